// Ring: small messages from one process to another, in memory that both see. One writes and one reads, and nobody locks:
// a slot is the writer's until it is full, then the reader's until it is not.
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
    std::atomic<uint32_t> is_full;  // in the line of the first bytes: whoever sees that it is full has these too
    int32_t tag;
    uint64_t size;
    char bytes[kSlotBytes];
  };
  Slot slots[kSlots];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "only then processes can share one");

class RingWriter {
 public:
  explicit RingWriter(Ring& ring) : ring_(&ring) {}

  // At most kSlotBytes, in parts. False if there is no slot for it now.
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

  // Gives the next message to `take(tag, bytes)`, if there is one. The bytes are there as long as that runs.
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
