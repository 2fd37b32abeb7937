// Custom calls that convert between global and per-device shapes, as for JAX's shard_map in an unpartitioned module.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// True if the call changes shapes. Such a call converts a global array to the shard of one device, or vice versa.
bool IsReshardCall(const Instruction& custom_call);
// True if a reshard call converts from global to per-device shapes.
bool IsGlobalToLocal(const Instruction& custom_call);
// The shapes of the results, one for each operand.
std::vector<const Shape*> ReshardResults(const Instruction& custom_call);

// True if the module has reshard calls. Outside of manual regions, every device then holds each array in full.
bool HasManualRegions(const Module& module);

}  // namespace shoal::internal
