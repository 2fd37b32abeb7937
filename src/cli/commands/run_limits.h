// Limits of an execution, shared by run and compare.
#pragma once

#include <string>

#include "analyze/facts/infer_devices.h"
#include "execute/interp/run.h"

namespace shoal::internal {

struct RunLimits {
  int64_t max_instructions = 0;
  double max_seconds = 0;
  std::string max_memory;

  void ApplyTo(RunSettings& settings) const;
  // Fails on unbounded sizes, too many devices or too large arguments of a device. Call this before creating inputs.
  Status Check(const Module& module, const InferredGrid& devices) const;
};

}  // namespace shoal::internal
