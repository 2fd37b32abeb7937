// BlockCache: memory for arrays of 64 kB and more. Freed blocks are cached and reused for requests of about the same
// size, because touching fresh memory costs several times as much as computing its contents. Sizes are rounded up, so
// that a block serves requests of similar size.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace shoal::internal {

class BlockCache {
 public:
  static constexpr size_t kMin = size_t{1} << 16;

  // An uninitialised, page-aligned block; null if there is no memory.
  void* Take(size_t bytes);
  void ReturnBlock(void* block, size_t bytes);

  // From now on, keeps used and cached bytes together within the peak number of used bytes, plus a small slack. Meant
  // for processes that share a machine. Without this call, up to 2 GB are cached.
  void CapAtPeakUse();

 private:
  static void* New(size_t size, size_t bytes);
  static void Free(void* block, size_t size);
  struct CachedBlock {
    void* block;
    size_t bytes;  // bytes that were used: untouched pages take no memory
  };
  using BlocksBySize = std::map<size_t, std::vector<CachedBlock>>;

  CachedBlock Remove(BlocksBySize::iterator size);
  void Drop(size_t max_bytes);  // frees blocks until at most max_bytes are cached
  size_t MaxCachedBytes() const;

  std::mutex mutex_;
  BlocksBySize free_;  // no list is empty
  size_t cached_ = 0, used_ = 0, max_used_ = 0;
  bool is_capped_at_peak_ = false;
};

// The cache that all arrays share.
BlockCache& ArrayBlocks();

}  // namespace shoal::internal
