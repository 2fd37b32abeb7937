// Checks before a run whether this machine can run a module: its shapes, the number of devices, memory.
#pragma once

#include "analyze/facts/infer_devices.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Each device is a thread.
inline constexpr int64_t kMaxRunDevices = 4096;

// Fails on unbounded sizes, which are unknown before the module runs.
Status CheckBounded(const Module& module);

// Fails on unbounded sizes and on too many devices.
Status CheckRunnable(const Module& module, const InferredGrid& devices);

// Checks that the module's constants fit into memory. All constants, even elided ones, are created before the run.
Status CheckConstantMemory(const Module& module);

// Checks the memory for a run. `argument_bytes` is the total for the arguments of all `devices` of this process. The
// computed size is a lower bound, so that no feasible run is refused. The module must be verified.
Status CheckRunMemory(const Module& module, const DeviceGrid& grid, double argument_bytes, int64_t devices);

}  // namespace shoal::internal
