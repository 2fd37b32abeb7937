#include "kernels/arrays/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace shoal::internal {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kMaxCached = size_t{2} << 30;
// Slack above the peak, so that a request of slightly different size need not evict a cached block.
constexpr size_t kSlackDivisor = 32, kMinSlack = size_t{16} << 20;
// Blocks of at least this size are mapped, so that freeing returns the memory. Smaller ones would need many mappings.
constexpr size_t kMinMapped = size_t{4} << 20;

size_t BlockSize(size_t bytes) {
  const size_t step = std::max<size_t>(std::bit_floor(bytes) / 8, 4096);
  return (bytes + step - 1) / step * step;
}

// Maps `size` bytes, aligned to a huge page.
std::byte* MapBlock(size_t size) {
  void* const mapping = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapping);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + size, kHugePage - before);
  return begin + before;
}

}  // namespace

void* BlockCache::Take(size_t bytes) {
  const size_t size = BlockSize(bytes);
  std::unique_lock lock(mutex_);
  used_ += bytes;
  max_used_ = std::max(max_used_, used_);
  if (const auto found = free_.find(size); found != free_.end()) return Remove(found).block;
  Drop(MaxCachedBytes());
  lock.unlock();
  if (void* block = New(size, bytes); block != nullptr) return block;
  lock.lock();
  Drop(0);
  void* block = New(size, bytes);
  if (block == nullptr) used_ -= bytes;
  return block;
}

void BlockCache::ReturnBlock(void* block, size_t bytes) {
  std::lock_guard lock(mutex_);
  free_[BlockSize(bytes)].push_back({block, bytes});
  cached_ += bytes;
  used_ -= bytes;
  Drop(MaxCachedBytes());
}

void BlockCache::CapAtPeakUse() {
  std::lock_guard lock(mutex_);
  is_capped_at_peak_ = true;
}

size_t BlockCache::MaxCachedBytes() const {
  if (!is_capped_at_peak_) return kMaxCached;
  return std::min(kMaxCached, max_used_ - used_ + std::max(max_used_ / kSlackDivisor, kMinSlack));
}

BlockCache::CachedBlock BlockCache::Remove(BlocksBySize::iterator size) {
  const CachedBlock last = size->second.back();
  size->second.pop_back();
  if (size->second.empty()) free_.erase(size);
  cached_ -= last.bytes;
  return last;
}

// Frees the smallest block that is large enough, else the largest blocks one after the other.
void BlockCache::Drop(size_t max_bytes) {
  while (cached_ > max_bytes) {
    auto found = free_.lower_bound(cached_ - max_bytes);
    if (found == free_.end()) --found;
    const size_t size = found->first;
    Free(Remove(found).block, size);
  }
}

// Uses huge pages only where `bytes` fill them: a partly used huge page takes as much memory as a full one.
void* BlockCache::New(size_t size, size_t bytes) {
  const size_t huge = bytes / kHugePage * kHugePage;
  void* block = nullptr;
  if (size >= kMinMapped) {
    block = MapBlock(size);
  } else if (posix_memalign(&block, huge > 0 ? kHugePage : 4096, size) != 0) {
    return nullptr;
  }
  if (huge == 0 || block == nullptr) return block;
  madvise(block, huge, MADV_HUGEPAGE);
  madvise(static_cast<std::byte*>(block) + huge, size - huge, MADV_NOHUGEPAGE);
  return block;
}

void BlockCache::Free(void* block, size_t size) {
  size >= kMinMapped ? static_cast<void>(munmap(block, size)) : std::free(block);
}

BlockCache& ArrayBlocks() {
  static auto* blocks = new BlockCache;  // never destroyed, so that it outlives every array
  return *blocks;
}

}  // namespace shoal::internal
