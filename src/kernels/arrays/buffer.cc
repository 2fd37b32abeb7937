#include "kernels/arrays/buffer.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "kernels/arrays/block_cache.h"

namespace shoal::internal {
namespace {

thread_local MemoryMeter* meter_of_this_thread = nullptr;

constexpr size_t kAlignment = 64;  // the size of a cache line and of the widest vector register

// Bytes of a block: a header with the reference counts, then the data.
size_t BlockBytes(size_t bytes) { return (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment; }

// Small arrays are created and destroyed by the million, so their blocks are cached for arrays of similar size.
class SmallBlocks {
 public:
  static constexpr size_t kMaxBytes = BlockCache::kMin;
  ~SmallBlocks() {
    for (FreeList& list : lists_)
      while (list.first != nullptr) std::free(std::exchange(list.first, list.first->next));
  }
  void* Take(size_t bytes) {
    FreeList& list = lists_[ClassOf(bytes)];
    if (list.first == nullptr) return std::aligned_alloc(kAlignment, RoundedUp(bytes));
    list.bytes -= RoundedUp(bytes);
    return std::exchange(list.first, list.first->next);
  }
  void ReturnBlock(void* block, size_t bytes) {
    FreeList& list = lists_[ClassOf(bytes)];
    if (list.bytes + RoundedUp(bytes) > kMaxCached) return std::free(block);
    list.bytes += RoundedUp(bytes);
    list.first = new (block) FreeBlock{list.first};
  }

 private:
  static constexpr size_t kMinBytes = 2 * kAlignment;
  static constexpr size_t kMaxCached = size_t{1} << 18;  // bytes per size class
  struct FreeBlock {
    FreeBlock* next;
  };
  struct FreeList {
    FreeBlock* first = nullptr;
    size_t bytes = 0;
  };

  // Four size classes per power of two, at least a cache line apart.
  static int WidthOf(size_t bytes) { return static_cast<int>(std::bit_width(bytes - 1)); }  // 8 for 129 to 256
  static int ShiftOf(size_t bytes) { return std::max(WidthOf(bytes) - 3, std::countr_zero(kAlignment)); }
  static size_t RoundedUp(size_t bytes) {
    if (bytes <= kMinBytes) return kMinBytes;
    const int shift = ShiftOf(bytes);
    return ((bytes - 1) >> shift << shift) + (size_t{1} << shift);
  }
  static size_t ClassOf(size_t bytes) {
    if (bytes <= kMinBytes) return 0;
    const int width = WidthOf(bytes);
    return static_cast<size_t>(width - 8) * 4 + ((RoundedUp(bytes) - (size_t{1} << (width - 1))) >> ShiftOf(bytes));
  }

  FreeList lists_[(17 - 8) * 4 + 5];
};
thread_local SmallBlocks small_blocks;

}  // namespace

MemoryMeter* Buffer::MeterThisThread(MemoryMeter* meter) { return std::exchange(meter_of_this_thread, meter); }

MemoryMeter* Buffer::MeterOfThisThread() { return meter_of_this_thread; }

Buffer Buffer::FromStorage(Storage* storage, size_t bytes, std::byte* data) {
  storage->bytes = bytes;
  storage->data = data;
  storage->first.storage = storage;
  return Buffer(&storage->first);
}

Buffer Buffer::Allocate(size_t bytes) {
  // A single block: the reference counts, then the aligned data.
  static_assert(sizeof(Storage) <= kAlignment);
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  if (meter_of_this_thread != nullptr && !meter_of_this_thread->Allows(bytes)) throw std::bad_alloc();
  const size_t rounded = BlockBytes(bytes);
  const bool small = rounded < BlockCache::kMin;
  void* memory = small ? small_blocks.Take(rounded) : ArrayBlocks().Take(rounded);
  if (memory == nullptr) throw std::bad_alloc();
  Buffer buffer = FromStorage(new (memory) Storage, bytes, static_cast<std::byte*>(memory) + kAlignment);
  buffer.share_->storage->origin = small ? Origin::kSmallBlock : Origin::kLargeBlock;
  buffer.ChargeTo(meter_of_this_thread);
  return buffer;
}

Buffer Buffer::BorrowWritable(std::byte* data, size_t bytes) {
  return FromStorage(new (std::aligned_alloc(kAlignment, kAlignment)) Storage, bytes, data);
}

Buffer Buffer::Borrow(const std::byte* data, size_t bytes) {
  Buffer buffer = BorrowWritable(const_cast<std::byte*>(data), bytes);
  buffer.share_->storage->frozen = true;  // never written, because a frozen buffer is never unique
  return buffer;
}

Buffer Buffer::Share(const std::byte* data, size_t bytes, std::shared_ptr<const void> owner) {
  auto* storage = new SharedStorage;
  storage->owner = std::move(owner);
  storage->origin = Origin::kOwner;
  storage->frozen = true;
  return FromStorage(storage, bytes, const_cast<std::byte*>(data));
}

Buffer Buffer::AccountOnly(size_t bytes) {
  Buffer buffer = FromStorage(new (std::aligned_alloc(kAlignment, kAlignment)) Storage, bytes, nullptr);
  buffer.ChargeTo(meter_of_this_thread);
  return buffer;
}

void Buffer::ChargeTo(MemoryMeter* meter) {
  if (share_ == nullptr || share_->meter == meter) return;
  const auto bytes = static_cast<int64_t>(size());
  if (unique()) {
    if (share_->meter != nullptr) share_->meter->Add(-bytes);
    share_->meter = meter;
  } else {
    Storage* storage = share_->storage;
    storage->frozen.store(true, std::memory_order_relaxed);
    storage->shares.fetch_add(1, std::memory_order_relaxed);
    auto* share = new DeviceShare;
    share->meter = meter;
    share->storage = storage;
    Release();
    share_ = share;
  }
  if (meter != nullptr) meter->Add(bytes);
}

void Buffer::Freeze() {
  if (share_ != nullptr) share_->storage->frozen.store(true, std::memory_order_relaxed);
}

void Buffer::Release() {
  if (share_ == nullptr || share_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Storage* storage = share_->storage;
  if (share_->meter != nullptr) share_->meter->Add(-static_cast<int64_t>(storage->bytes));
  if (share_ != &storage->first) delete share_;
  if (storage->shares.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const Origin origin = storage->origin;
  const size_t rounded = BlockBytes(storage->bytes);
  if (origin == Origin::kOwner) return delete static_cast<SharedStorage*>(storage);
  storage->~Storage();
  if (origin == Origin::kSmallBlock) return small_blocks.ReturnBlock(storage, rounded);
  if (origin == Origin::kLargeBlock) return ArrayBlocks().ReturnBlock(storage, rounded);
  std::free(storage);
}

}  // namespace shoal::internal
