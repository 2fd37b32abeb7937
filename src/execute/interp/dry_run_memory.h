// What the interpreter holds when it runs a module: the same schedule, arrays without padding, fusions op by op.
#pragma once

#include "analyze/facts/device_grid.h"
#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

// Devices that hold the same.
struct RunPeak {
  int64_t bytes = 0;  // equals RunStats::peak_bytes of each of them unless something was guessed
  int64_t devices = 0;
  int64_t device = 0;  // one of them
};

struct RunMemory {
  std::vector<RunPeak> peaks;            // the largest first
  std::vector<std::string> assumptions;  // sentences
};

// The module was verified.
RunMemory RunMemoryOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid);

}  // namespace shoal::internal
