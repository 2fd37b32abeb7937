// What a thread makes for others.
#pragma once

#include "kernels/arrays/buffer.h"

namespace shoal {

// While it is there, what the thread makes counts for no device.
class UnmeteredThread {
 public:
  UnmeteredThread() : meter_(Buffer::MeterThisThread(nullptr)) {}
  ~UnmeteredThread() { Buffer::MeterThisThread(meter_); }
  UnmeteredThread(const UnmeteredThread&) = delete;
  UnmeteredThread& operator=(const UnmeteredThread&) = delete;

 private:
  MemoryMeter* meter_;
};

}  // namespace shoal
