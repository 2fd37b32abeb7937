// Allocations that a thread makes on behalf of other devices.
#pragma once

#include "kernels/arrays/buffer.h"

namespace shoal::internal {

// During its lifetime, the thread's allocations are charged to no device.
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
