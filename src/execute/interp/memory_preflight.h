// Whether this machine can hold what a run needs, before anything of it is made.
#pragma once

#include "analyze/facts/device_grid.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Whether there is room for the module's constants, elided ones too, which are made before anything runs.
Status CheckConstantMemory(const Module& module);

// `argument_bytes`: of the arguments of all `devices` that this process runs, together. The need is a lower bound, so
// that nothing is refused that might have run. The module was verified.
Status CheckRunMemory(const Module& module, const DeviceGrid& grid, double argument_bytes, int64_t devices);

}  // namespace shoal::internal
