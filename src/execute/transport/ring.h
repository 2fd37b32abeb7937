// Ring: a lock-free queue of small messages from one process to another in shared memory, with one writer and one
// reader. An empty slot belongs to the writer, a full slot to the reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace shoal::internal {

struct Ring {
  static constexpr size_t kSlotBytes = 20 << 10, kSlots = 4;
  struct alignas(64) Slot {
    std::atomic<uint32_t> is_full;  // in the cache line of the first bytes, so that one fetch loads both
    int32_t tag;
    uint64_t size;
    char bytes[kSlotBytes];
  };
  Slot slots[kSlots];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "lock-based atomics do not work across processes");

class RingWriter {
 public:
  explicit RingWriter(Ring& ring) : ring_(&ring) {}

  // Writes the concatenation of `parts`, at most kSlotBytes. Returns false if no slot is free.
  bool Write(int tag, std::initializer_list<std::string_view> parts) {
    Ring::Slot& slot = ring_->slots[next_];
    if (slot.is_full.load(std::memory_order_acquire) != 0) return false;
    size_t size = 0;
    for (std::string_view part : parts) {
      if (!part.empty()) std::memcpy(slot.bytes + size, part.data(), part.size());
      size += part.size();
    }
    slot.tag = tag;
    slot.size = size;
    slot.is_full.store(1, std::memory_order_release);
    next_ = (next_ + 1) % Ring::kSlots;
    return true;
  }

 private:
  Ring* ring_;
  size_t next_ = 0;
};

class RingReader {
 public:
  explicit RingReader(Ring& ring) : ring_(&ring) {}

  // Calls `take(tag, bytes)` with the next message; false if there is none. The bytes are valid only during the call.
  template <class Take>
  bool Read(const Take& take) {
    Ring::Slot& slot = ring_->slots[next_];
    if (slot.is_full.load(std::memory_order_acquire) == 0) return false;
    next_ = (next_ + 1) % Ring::kSlots;
    take(slot.tag, std::string_view(slot.bytes, slot.size));
    slot.is_full.store(0, std::memory_order_release);
    return true;
  }

 private:
  Ring* ring_;
  size_t next_ = 0;
};

}  // namespace shoal::internal
