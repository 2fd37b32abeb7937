#include "kernels/buffer.h"

#include <cstdlib>
#include <new>

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

}  // namespace

MemoryMeter* Buffer::MeterThisThread(MemoryMeter* meter) { return std::exchange(meter_of_this_thread, meter); }

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
  void* memory = small ? small_blocks.Take() : std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  Buffer buffer = Hold(new (memory) Storage, bytes, static_cast<std::byte*>(memory) + kAlignment);
  buffer.holding_->storage->in_small_block = small;
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
  storage->~Storage();
  small ? small_blocks.Give(storage) : std::free(storage);
}

}  // namespace shoal
