// Calls that convert between global and per-device shapes: JAX's shard_map in a module that is not partitioned yet.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// True if the call changes the shape: it converts a global array to the shard of one device, or back.
bool IsReshardCall(const Instruction& custom_call);
// True if a reshard call converts from global to per-device shapes.
bool IsGlobalToLocal(const Instruction& custom_call);
// The shapes of the results, one for each operand.
std::vector<const Shape*> ReshardResults(const Instruction& custom_call);

// True if the module has such conversions. Then every device holds all of each array outside of manual regions.
bool HasManualRegions(const Module& module);

}  // namespace shoal::internal
