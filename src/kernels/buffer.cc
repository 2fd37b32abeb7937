#include "kernels/buffer.h"

#include <cstdlib>
#include <new>

namespace shoal {
namespace {

thread_local MemoryMeter* meter_of_this_thread = nullptr;

constexpr size_t kAlignment = 64;  // of a cache line and of the widest vector

}  // namespace

void Buffer::MeterThisThread(MemoryMeter* meter) { meter_of_this_thread = meter; }

Buffer Buffer::Allocate(size_t bytes) {
  // One piece: the count of owners, then, aligned, the data.
  static_assert(sizeof(Block) <= kAlignment);
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t rounded = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
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
  block_->~Block();
  std::free(block_);
}

}  // namespace shoal
