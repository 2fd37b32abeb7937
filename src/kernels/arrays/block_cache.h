// BlockCache: memory for arrays of 64 kB and more. Blocks that were given up are kept for the next who asks for such a
// size: touching fresh memory costs several times what computing its contents does. Sizes are rounded, so that a block
// serves all who want nearly as much.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace shoal::internal {

class BlockCache {
 public:
  static constexpr size_t kMin = size_t{1} << 16;

  // Uninitialised, at the beginning of a page; null if there is no memory.
  void* Take(size_t bytes);
  void ReturnBlock(void* block, size_t bytes);

  // What is in use and what is kept are together never more than the most that was in use at a time, and a little: for
  // one of several processes of a machine. Without it 2 GB are kept at any time.
  void CapAtPeakUse();

 private:
  static void* New(size_t size, size_t bytes);
  static void Free(void* block, size_t size);
  struct Kept {
    void* block;
    size_t bytes;  // of them that were used: memory that nobody touched is none
  };
  using KeptBySize = std::map<size_t, std::vector<Kept>>;

  Kept Remove(KeptBySize::iterator size);
  void Drop(size_t most);  // until so much is kept
  size_t MaxCachedBytes() const;

  std::mutex mutex_;
  KeptBySize free_;  // no list is empty
  size_t kept_ = 0, used_ = 0, max_used_ = 0;
  bool within_peak_ = false;
};

// All arrays'.
BlockCache& ArrayBlocks();

}  // namespace shoal::internal
