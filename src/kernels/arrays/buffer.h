// Reference-counted bytes. A sole owner may write in place; other owners copy first. Owners may be on different
// threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace shoal::internal {

// The memory that the buffers of one device take: the current bytes, and their maximum over the calls of UpdatePeak.
class MemoryMeter {
 public:
  void Add(int64_t bytes) { current_.fetch_add(bytes, std::memory_order_relaxed); }
  // Call only from the device's own thread.
  void UpdatePeak() { peak_ = std::max(peak_, current()); }
  int64_t current() const { return current_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_; }
  // Sets the limit in bytes. An allocation that would exceed it throws std::bad_alloc.
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
  // Uninitialised bytes, charged to this thread's meter if it has one. Throws std::bad_alloc.
  static Buffer Allocate(size_t bytes);
  // Read-only bytes that the caller keeps alive.
  static Buffer Borrow(const std::byte* data, size_t bytes);
  // Bytes that the caller keeps alive and that a sole owner may write.
  static Buffer BorrowWritable(std::byte* data, size_t bytes);
  // Read-only bytes that `owner` keeps alive. The last reference to the buffer drops `owner`.
  static Buffer Share(const std::byte* data, size_t bytes, std::shared_ptr<const void> owner);
  // A buffer without memory that is charged to this thread's meter as `bytes` bytes, for dry runs.
  static Buffer AccountOnly(size_t bytes);
  // From now on, charges the buffers that this thread allocates to `meter`, which may be null and must outlive them.
  // Returns the previous meter.
  static MemoryMeter* MeterThisThread(MemoryMeter* meter);
  static MemoryMeter* MeterOfThisThread();

  Buffer(const Buffer& other) : share_(other.share_) {
    if (share_ != nullptr) share_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : share_(std::exchange(other.share_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(share_, other.share_);
    return *this;
  }
  ~Buffer() { Release(); }

  // The acquire pairs with the release by the last other owner: its reads happen before our writes.
  bool unique() const {
    return share_ != nullptr && share_->owners.load(std::memory_order_acquire) == 1 &&
           !share_->storage->frozen.load(std::memory_order_relaxed);
  }
  size_t size() const { return share_ == nullptr ? 0 : share_->storage->bytes; }
  const std::byte* data() const { return share_ == nullptr ? nullptr : share_->storage->data; }
  // The caller must ensure that unique() is true.
  std::byte* mutable_data() { return share_ == nullptr ? nullptr : share_->storage->data; }

  // Moves the charge for this reference to `meter`, which may be null. If there are other references, each device is
  // charged for the bytes, and the buffer is frozen, because timing would decide which device is the last owner.
  void ChargeTo(MemoryMeter* meter);
  // Makes the bytes read-only from now on.
  void Freeze();

 private:
  // The bytes, and the number of devices that share them.
  struct Storage;
  enum class Origin : uint8_t { kSmallBlock, kLargeBlock, kNone, kOwner };  // kNone: borrowed or accounted only
  // The share of one device, with its number of references.
  struct DeviceShare {
    std::atomic<int64_t> owners = 1;
    MemoryMeter* meter = nullptr;
    Storage* storage = nullptr;
  };
  struct Storage {
    std::atomic<int64_t> shares = 1;
    std::atomic<bool> frozen = false;  // read-only
    Origin origin = Origin::kNone;
    size_t bytes = 0;
    std::byte* data = nullptr;
    DeviceShare first;
  };

  struct SharedStorage : Storage {
    std::shared_ptr<const void> owner;
  };

  explicit Buffer(DeviceShare* share) : share_(share) {}
  static Buffer FromStorage(Storage* storage, size_t bytes, std::byte* data);
  void Release();

  DeviceShare* share_ = nullptr;
};

}  // namespace shoal::internal
