// How far a run may go, as run and compare are told.
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

  void Set(RunSettings& settings) const;
  // What is known to be too much before anything is made or read: sizes without a bound, devices, a device's arguments.
  Status Check(const Module& module, const InferredGrid& devices) const;
};

}  // namespace shoal::internal
