// Memory use of an interpreter run, which follows the schedule, does not pad arrays, and evaluates fusions op by op.
#pragma once

#include "analyze/facts/device_grid.h"
#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

// Devices with equal peak memory.
struct RunPeak {
  int64_t bytes = 0;  // equals RunStats::peak_bytes of each device if no choice was guessed
  int64_t devices = 0;
  int64_t device = 0;  // one of the devices
};

struct RunMemory {
  std::vector<RunPeak> peaks;            // largest first
  std::vector<std::string> assumptions;  // as sentences
};

// The module must be verified.
RunMemory RunMemoryOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid);

}  // namespace shoal::internal
