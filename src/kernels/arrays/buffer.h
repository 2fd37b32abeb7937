// Bytes with a count of owners. Whoever holds the only reference may write in place; everybody else copies first.
// Owners may be different threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace shoal::internal {

// What the buffers of one device take: now, and at most at the moments that were noted.
class MemoryMeter {
 public:
  void Add(int64_t bytes) { current_.fetch_add(bytes, std::memory_order_relaxed); }
  // From the device's own thread.
  void UpdatePeak() { peak_ = std::max(peak_, current()); }
  int64_t current() const { return current_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_; }
  // More than this is not given: an allocation beyond it throws std::bad_alloc.
  void Limit(int64_t bytes) { limit_ = bytes; }
  bool Allows(size_t bytes) const { return bytes <= static_cast<size_t>(std::max<int64_t>(limit_ - current(), 0)); }
  int64_t limit() const { return limit_; }

 private:
  std::atomic<int64_t> current_ = 0;
  int64_t peak_ = 0;
  int64_t limit_ = INT64_MAX;
};

class Buffer {
 public:
  Buffer() = default;
  // Uninitialised; counted by the meter of this thread, if it has one. Throws std::bad_alloc.
  static Buffer Allocate(size_t bytes);
  // Bytes that somebody else keeps alive and that nobody may write.
  static Buffer Borrow(const std::byte* data, size_t bytes);
  // A buffer without memory of its own that is charged to this thread's meter like one of `bytes` bytes: for dry runs.
  static Buffer AccountOnly(size_t bytes);
  // What buffers that this thread allocates from now on count towards; may be null. It must outlive them. Returns what
  // it was before.
  static MemoryMeter* MeterThisThread(MemoryMeter* meter);
  static MemoryMeter* MeterOfThisThread();

  Buffer(const Buffer& other) : holding_(other.holding_) {
    if (holding_ != nullptr) holding_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : holding_(std::exchange(other.holding_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(holding_, other.holding_);
    return *this;
  }
  ~Buffer() { Release(); }

  // The acquire pairs with the release of the last other owner: what it read is read before we write.
  bool unique() const {
    return holding_ != nullptr && holding_->owners.load(std::memory_order_acquire) == 1 &&
           !holding_->storage->frozen.load(std::memory_order_relaxed);
  }
  size_t size() const { return holding_ == nullptr ? 0 : holding_->storage->bytes; }
  const std::byte* data() const { return holding_ == nullptr ? nullptr : holding_->storage->data; }
  // The caller has made sure that it is unique.
  std::byte* mutable_data() { return holding_ == nullptr ? nullptr : holding_->storage->data; }

  // This reference counts towards `meter` from now on, which may be null, and no more towards the one it did. If there
  // are others, each device counts the bytes it holds, and nobody writes them any more: who would be the last to hold
  // them depends on which device is faster.
  void ChargeTo(MemoryMeter* meter);
  // Nobody writes the bytes any more.
  void Freeze();

 private:
  // The bytes, and how many devices hold them.
  struct Storage;
  // What one device holds of them.
  struct Holding {
    std::atomic<int64_t> owners = 1;
    MemoryMeter* meter = nullptr;
    Storage* storage = nullptr;
  };
  struct Storage {
    std::atomic<int64_t> holdings = 1;
    std::atomic<bool> frozen = false;  // nobody may write
    bool in_small_block = false;
    size_t bytes = 0;
    std::byte* data = nullptr;
    Holding first;
  };

  explicit Buffer(Holding* holding) : holding_(holding) {}
  static Buffer Hold(Storage* storage, size_t bytes, std::byte* data);
  void Release();

  Holding* holding_ = nullptr;
};

}  // namespace shoal::internal
