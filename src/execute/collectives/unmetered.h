// Exempts allocations that a thread makes on behalf of other devices from memory accounting.
#pragma once

#include "kernels/arrays/buffer.h"

namespace shoal::internal {

// While an object of this class exists, the thread's allocations are not charged to any device.
class ScopedUnmeteredThread {
 public:
  ScopedUnmeteredThread() : meter_(Buffer::MeterThisThread(nullptr)) {}
  ~ScopedUnmeteredThread() { Buffer::MeterThisThread(meter_); }
  ScopedUnmeteredThread(const ScopedUnmeteredThread&) = delete;
  ScopedUnmeteredThread& operator=(const ScopedUnmeteredThread&) = delete;

 private:
  MemoryMeter* meter_;
};

}  // namespace shoal::internal
