#include "kernels/arrays/buffer.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "kernels/arrays/block_cache.h"

namespace shoal::internal {
namespace {

thread_local MemoryMeter* meter_of_this_thread = nullptr;

constexpr size_t kAlignment = 64;  // of a cache line and of the widest vector

// With the counts of owners before the bytes.
size_t Rounded(size_t bytes) { return (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment; }

// Small arrays come and go by the million: their blocks are kept for the next one of about that size.
class SmallBlocks {
 public:
  static constexpr size_t kLargest = BlockCache::kMin;
  ~SmallBlocks() {
    for (Kept& kept : kept_)
      while (kept.first != nullptr) std::free(std::exchange(kept.first, kept.first->next));
  }
  void* Take(size_t bytes) {
    Kept& kept = kept_[ClassOf(bytes)];
    if (kept.first == nullptr) return std::aligned_alloc(kAlignment, RoundedUp(bytes));
    kept.bytes -= RoundedUp(bytes);
    return std::exchange(kept.first, kept.first->next);
  }
  void ReturnBlock(void* block, size_t bytes) {
    Kept& kept = kept_[ClassOf(bytes)];
    if (kept.bytes + RoundedUp(bytes) > kMaxKept) return std::free(block);
    kept.bytes += RoundedUp(bytes);
    kept.first = new (block) Free{kept.first};
  }

 private:
  static constexpr size_t kSmallest = 2 * kAlignment;
  static constexpr size_t kMaxKept = size_t{1} << 18;  // bytes of one class
  struct Free {
    Free* next;
  };
  struct Kept {
    Free* first = nullptr;
    size_t bytes = 0;
  };

  // Four sizes for each power of two, at least a cache line apart.
  static int WidthOf(size_t bytes) { return static_cast<int>(std::bit_width(bytes - 1)); }  // 8 for 129 to 256
  static int ShiftOf(size_t bytes) { return std::max(WidthOf(bytes) - 3, std::countr_zero(kAlignment)); }
  static size_t RoundedUp(size_t bytes) {
    if (bytes <= kSmallest) return kSmallest;
    const int shift = ShiftOf(bytes);
    return ((bytes - 1) >> shift << shift) + (size_t{1} << shift);
  }
  static size_t ClassOf(size_t bytes) {
    if (bytes <= kSmallest) return 0;
    const int width = WidthOf(bytes);
    return static_cast<size_t>(width - 8) * 4 + ((RoundedUp(bytes) - (size_t{1} << (width - 1))) >> ShiftOf(bytes));
  }

  Kept kept_[(17 - 8) * 4 + 5];
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
  if (meter_of_this_thread != nullptr && !meter_of_this_thread->Allows(bytes)) throw std::bad_alloc();
  const size_t rounded = Rounded(bytes);
  const bool small = rounded < BlockCache::kMin;
  void* memory = small ? small_blocks.Take(rounded) : ArrayBlocks().Take(rounded);
  if (memory == nullptr) throw std::bad_alloc();
  Buffer buffer = Hold(new (memory) Storage, bytes, static_cast<std::byte*>(memory) + kAlignment);
  buffer.holding_->storage->in_small_block = small;
  buffer.ChargeTo(meter_of_this_thread);
  return buffer;
}

Buffer Buffer::Borrow(const std::byte* data, size_t bytes) {
  // Never written: what is fixed is never unique.
  Buffer buffer = Hold(new (std::aligned_alloc(kAlignment, kAlignment)) Storage, bytes, const_cast<std::byte*>(data));
  buffer.holding_->storage->frozen = true;
  return buffer;
}

Buffer Buffer::AccountOnly(size_t bytes) {
  Buffer buffer = Hold(new (std::aligned_alloc(kAlignment, kAlignment)) Storage, bytes, nullptr);
  buffer.ChargeTo(meter_of_this_thread);
  return buffer;
}

void Buffer::ChargeTo(MemoryMeter* meter) {
  if (holding_ == nullptr || holding_->meter == meter) return;
  const auto bytes = static_cast<int64_t>(size());
  if (unique()) {
    if (holding_->meter != nullptr) holding_->meter->Add(-bytes);
    holding_->meter = meter;
  } else {
    Storage* storage = holding_->storage;
    storage->frozen.store(true, std::memory_order_relaxed);
    storage->holdings.fetch_add(1, std::memory_order_relaxed);
    auto* own = new Holding;
    own->meter = meter;
    own->storage = storage;
    Release();
    holding_ = own;
  }
  if (meter != nullptr) meter->Add(bytes);
}

void Buffer::Freeze() {
  if (holding_ != nullptr) holding_->storage->frozen.store(true, std::memory_order_relaxed);
}

void Buffer::Release() {
  if (holding_ == nullptr || holding_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Storage* storage = holding_->storage;
  if (holding_->meter != nullptr) holding_->meter->Add(-static_cast<int64_t>(storage->bytes));
  if (holding_ != &storage->first) delete holding_;
  if (storage->holdings.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const bool small = storage->in_small_block;
  // Where the bytes lie behind the counts they came with them, and not from somebody else.
  const bool owns = storage->data == reinterpret_cast<std::byte*>(storage) + kAlignment;
  const size_t rounded = Rounded(storage->bytes);
  storage->~Storage();
  if (owns && rounded >= BlockCache::kMin) return ArrayBlocks().ReturnBlock(storage, rounded);
  small ? small_blocks.ReturnBlock(storage, rounded) : std::free(storage);
}

}  // namespace shoal::internal
