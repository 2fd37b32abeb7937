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

Buffer Buffer::Allocate(size_t bytes) {
  // One piece: the count of owners, then, aligned, the data.
  static_assert(sizeof(Block) <= kAlignment);
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t rounded = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  void* memory = rounded <= SmallBlocks::kBytes ? small_blocks.Take() : std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  Block* block = new (memory) Block;
  block->bytes = bytes;
  block->data = static_cast<std::byte*>(memory) + kAlignment;
  block->meter = meter_of_this_thread;
  if (block->meter != nullptr) block->meter->Add(static_cast<int64_t>(bytes));
  return Buffer(block);
}

Buffer Buffer::Borrow(const std::byte* data, size_t bytes) {
  Block* block = new (std::aligned_alloc(kAlignment, kAlignment)) Block;
  block->bytes = bytes;
  block->data = const_cast<std::byte*>(data);  // never written: a borrowed block is never unique
  block->borrowed = true;
  return Buffer(block);
}

void Buffer::Release() {
  if (block_ == nullptr || block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block_->meter != nullptr) block_->meter->Add(-static_cast<int64_t>(block_->bytes));
  const bool small = !block_->borrowed && block_->bytes <= kAlignment;
  block_->~Block();
  small ? small_blocks.Give(block_) : std::free(block_);
}

}  // namespace shoal
