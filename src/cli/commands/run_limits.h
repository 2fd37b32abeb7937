// Limits of an execution, shared by run and compare.
#pragma once

#include <string>

#include "analyze/facts/infer_devices.h"
#include "execute/interp/run.h"

namespace shoal::internal {

// Each device is a thread.
inline constexpr int64_t kMaxDevices = 4096;

struct RunLimits {
  int64_t max_instructions = 0;
  double max_seconds = 0;
  std::string max_memory;

  void ApplyTo(RunSettings& settings) const;
  // Checks, before any input exists: unbounded sizes, the number of devices, the size of a device's arguments.
  Status Check(const Module& module, const InferredGrid& devices) const;
};

}  // namespace shoal::internal
