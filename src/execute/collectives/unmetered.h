// What a thread makes for others.
#pragma once

#include "kernels/arrays/buffer.h"

namespace shoal::internal {

// While it is there, what the thread makes counts for no device.
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
