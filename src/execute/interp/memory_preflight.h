// Checks whether this machine has enough memory for a run before the run starts.
#pragma once

#include "analyze/facts/device_grid.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Checks that the module's constants fit into memory. All constants, even elided ones, are created before the run.
Status CheckConstantMemory(const Module& module);

// Checks the memory for a run. `argument_bytes` is the total for the arguments of all `devices` of this process. The
// computed size is a lower bound, so that no feasible run is refused. The module must be verified.
Status CheckRunMemory(const Module& module, const DeviceGrid& grid, double argument_bytes, int64_t devices);

}  // namespace shoal::internal
