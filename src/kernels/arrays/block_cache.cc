#include "kernels/arrays/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace shoal::internal {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kMaxKept = size_t{2} << 30;
// Of the peak: what differs a little in size from what is kept need not push that out.
constexpr size_t kSlackPart = 32, kMinSlack = size_t{16} << 20;
// Such blocks are the system's again as soon as they are freed; smaller ones would be too many for it.
constexpr size_t kMapped = size_t{4} << 20;

size_t BlockSize(size_t bytes) {
  const size_t step = std::max<size_t>(std::bit_floor(bytes) / 8, 4096);
  return (bytes + step - 1) / step * step;
}

// At the beginning of a huge page.
std::byte* MapBlock(size_t size) {
  void* const all = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(all);
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
  kept_ += bytes;
  used_ -= bytes;
  Drop(MaxCachedBytes());
}

void BlockCache::CapAtPeakUse() {
  std::lock_guard lock(mutex_);
  within_peak_ = true;
}

size_t BlockCache::MaxCachedBytes() const {
  if (!within_peak_) return kMaxKept;
  return std::min(kMaxKept, max_used_ - used_ + std::max(max_used_ / kSlackPart, kMinSlack));
}

BlockCache::Kept BlockCache::Remove(KeptBySize::iterator size) {
  const Kept last = size->second.back();
  size->second.pop_back();
  if (size->second.empty()) free_.erase(size);
  kept_ -= last.bytes;
  return last;
}

// The smallest that is enough, or the largest one after the other.
void BlockCache::Drop(size_t most) {
  while (kept_ > most) {
    auto found = free_.lower_bound(kept_ - most);
    if (found == free_.end()) --found;
    const size_t size = found->first;
    Free(Remove(found).block, size);
  }
}

// In huge pages as far as `bytes` fill them: a few bytes in another one would take all of it.
void* BlockCache::New(size_t size, size_t bytes) {
  const size_t huge = bytes / kHugePage * kHugePage;
  void* block = nullptr;
  if (size >= kMapped) {
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
  size >= kMapped ? static_cast<void>(munmap(block, size)) : std::free(block);
}

BlockCache& ArrayBlocks() {
  static auto* blocks = new BlockCache;  // outlives every array, whatever holds it
  return *blocks;
}

}  // namespace shoal::internal
