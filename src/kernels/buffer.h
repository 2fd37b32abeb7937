// Bytes with a count of owners. Whoever holds the only reference may write in place; everybody else copies first.
// Owners may be different threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace shoal {

// What the buffers of one device take: now, and at most so far.
class MemoryMeter {
 public:
  void Add(int64_t bytes) {
    const int64_t now = current_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  int64_t current() const { return current_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> current_ = 0, peak_ = 0;
};

class Buffer {
 public:
  Buffer() = default;
  // Uninitialised; counted by the meter of this thread, if it has one. Throws std::bad_alloc.
  static Buffer Allocate(size_t bytes);
  // Bytes that somebody else keeps alive and that nobody may write.
  static Buffer Borrow(const std::byte* data, size_t bytes);
  // What buffers that this thread allocates from now on count towards; may be null. It must outlive them. Returns what
  // it was before.
  static MemoryMeter* MeterThisThread(MemoryMeter* meter);

  Buffer(const Buffer& other) : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() { Release(); }

  // The acquire pairs with the release of the last other owner: what it read is read before we write.
  bool unique() const {
    return block_ != nullptr && !block_->borrowed && block_->owners.load(std::memory_order_acquire) == 1;
  }
  size_t size() const { return block_ == nullptr ? 0 : block_->bytes; }
  const std::byte* data() const { return block_ == nullptr ? nullptr : block_->data; }
  // The caller has made sure that it is unique.
  std::byte* mutable_data() { return block_ == nullptr ? nullptr : block_->data; }

 private:
  struct Block {
    std::atomic<int64_t> owners = 1;
    size_t bytes = 0;
    std::byte* data = nullptr;
    bool borrowed = false;
    MemoryMeter* meter = nullptr;
  };

  explicit Buffer(Block* block) : block_(block) {}
  void Release();

  Block* block_ = nullptr;
};

}  // namespace shoal
