// What the interpreter holds when it runs a module: the same schedule, arrays without padding, fusions op by op.
#pragma once

#include "analysis/executions.h"
#include "collectives/device_grid.h"

namespace shoal {

struct RunMemory {
  std::vector<int64_t> peak_bytes;       // of each device; equals RunStats::peak_bytes unless something was guessed
  std::vector<std::string> assumptions;  // sentences
};

// The module was verified.
RunMemory RunMemoryOf(const Module& module, const Executions& executions, const DeviceGrid& grid);

}  // namespace shoal
