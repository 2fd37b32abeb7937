#include "kernels/buffer.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace shoal {
namespace {

thread_local MemoryMeter* meter_of_this_thread = nullptr;

constexpr size_t kAlignment = 64;  // of a cache line and of the widest vector

// Scalars come and go by the million: their blocks are kept for the next one.
class SmallBlocks {
 public:
  static constexpr size_t kBytes = 2 * kAlignment;
  ~SmallBlocks() {
    for (size_t i = 0; i < count_; ++i) std::free(blocks_[i]);
  }
  void* Take() { return count_ == 0 ? std::aligned_alloc(kAlignment, kBytes) : blocks_[--count_]; }
  void Give(void* block) {
    if (count_ == kMost) return std::free(block);
    blocks_[count_++] = block;
  }

 private:
  static constexpr size_t kMost = 256;
  void* blocks_[kMost] = {};
  size_t count_ = 0;
};
thread_local SmallBlocks small_blocks;

// Large blocks that were given up, by size. Sizes are rounded so that a block serves all who want nearly as much.
class LargeBlocks {
 public:
  static constexpr size_t kLeast = size_t{1} << 16;

  static size_t Rounded(size_t bytes) {
    const size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
  }

  void* Take(size_t bytes) {
    {
      std::lock_guard lock(mutex_);
      if (auto found = free_.find(bytes); found != free_.end() && !found->second.empty()) {
        void* block = found->second.back();
        found->second.pop_back();
        kept_ -= bytes;
        return block;
      }
    }
    void* block = New(bytes);
    if (block != nullptr) return block;
    Clear();
    return New(bytes);
  }

  void Give(void* block, size_t bytes) {
    std::lock_guard lock(mutex_);
    free_[bytes].push_back(block);
    kept_ += bytes;
    // Sizes that nobody asks for any more give way.
    for (auto largest = free_.rbegin(); kept_ > kMostKept && largest != free_.rend(); ++largest) Drop(*largest);
  }

  std::atomic<bool> enabled = false;

 private:
  static constexpr size_t kHugePage = size_t{1} << 21;
  static constexpr size_t kMostKept = size_t{3} << 30;

  static void* New(size_t bytes) {
    const bool huge = bytes >= kHugePage;
    void* block = std::aligned_alloc(huge ? kHugePage : 4096, (bytes + 4095) / 4096 * 4096);
    if (huge && block != nullptr) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
  }
  void Drop(std::pair<const size_t, std::vector<void*>>& size) {
    for (void* block : size.second) std::free(block);
    kept_ -= size.first * size.second.size();
    size.second.clear();
  }
  void Clear() {
    std::lock_guard lock(mutex_);
    for (auto& size : free_) Drop(size);
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  size_t kept_ = 0;
};
LargeBlocks& Blocks() {
  static auto* blocks = new LargeBlocks;  // outlives whatever static thing holds an array
  return *blocks;
}

}  // namespace

MemoryMeter* Buffer::MeterThisThread(MemoryMeter* meter) { return std::exchange(meter_of_this_thread, meter); }

void Buffer::KeepBlocks() { Blocks().enabled = true; }

MemoryMeter* Buffer::MeterOfThisThread() { return meter_of_this_thread; }

Buffer Buffer::Hold(Storage* storage, size_t bytes, std::byte* data) {
  storage->bytes = bytes;
  storage->data = data;
  storage->first.storage = storage;
  return Buffer(&storage->first);
}

Buffer Buffer::Allocate(size_t bytes) {
  // One piece: the counts of owners, then, aligned, the data.
  static_assert(sizeof(Storage) <= kAlignment);
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t rounded = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  const bool small = rounded <= SmallBlocks::kBytes;
  const bool kept = rounded >= LargeBlocks::kLeast && Blocks().enabled.load(std::memory_order_relaxed);
  const size_t block_bytes = kept ? LargeBlocks::Rounded(rounded) : 0;
  void* memory = small ? small_blocks.Take() : kept ? Blocks().Take(block_bytes) : std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  Buffer buffer = Hold(new (memory) Storage, bytes, static_cast<std::byte*>(memory) + kAlignment);
  buffer.holding_->storage->in_small_block = small;
  buffer.holding_->storage->block_bytes = block_bytes;
  buffer.CountFor(meter_of_this_thread);
  return buffer;
}

Buffer Buffer::Borrow(const std::byte* data, size_t bytes) {
  // Never written: what is fixed is never unique.
  Buffer buffer = Hold(new (std::aligned_alloc(kAlignment, kAlignment)) Storage, bytes, const_cast<std::byte*>(data));
  buffer.holding_->storage->fixed = true;
  return buffer;
}

Buffer Buffer::Imagine(size_t bytes) {
  Buffer buffer = Hold(new (std::aligned_alloc(kAlignment, kAlignment)) Storage, bytes, nullptr);
  buffer.CountFor(meter_of_this_thread);
  return buffer;
}

void Buffer::CountFor(MemoryMeter* meter) {
  if (holding_ == nullptr || holding_->meter == meter) return;
  const auto bytes = static_cast<int64_t>(size());
  if (unique()) {
    if (holding_->meter != nullptr) holding_->meter->Add(-bytes);
    holding_->meter = meter;
  } else {
    Storage* storage = holding_->storage;
    storage->fixed.store(true, std::memory_order_relaxed);
    storage->holdings.fetch_add(1, std::memory_order_relaxed);
    auto* own = new Holding;
    own->meter = meter;
    own->storage = storage;
    Release();
    holding_ = own;
  }
  if (meter != nullptr) meter->Add(bytes);
}

void Buffer::Fix() {
  if (holding_ != nullptr) holding_->storage->fixed.store(true, std::memory_order_relaxed);
}

void Buffer::Release() {
  if (holding_ == nullptr || holding_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Storage* storage = holding_->storage;
  if (holding_->meter != nullptr) holding_->meter->Add(-static_cast<int64_t>(storage->bytes));
  if (holding_ != &storage->first) delete holding_;
  if (storage->holdings.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const bool small = storage->in_small_block;
  const size_t block_bytes = storage->block_bytes;
  storage->~Storage();
  if (block_bytes != 0) return Blocks().Give(storage, block_bytes);
  small ? small_blocks.Give(storage) : std::free(storage);
}

}  // namespace shoal
