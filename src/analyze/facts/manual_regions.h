// Between the shapes of all devices and of one: what JAX's shard_map becomes in a module that is not partitioned yet.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// Whether one of these calls goes from an array of all devices to one's part of it, or back.
bool IsReshardCall(const Instruction& custom_call);
// Which of the two.
bool IsGlobalToLocal(const Instruction& custom_call);
// The shapes of the results, one for each operand.
std::vector<const Shape*> ReshardResults(const Instruction& custom_call);

// Whether the module goes from one to the other, so that outside of these regions every device has all of each array.
bool HasManualRegions(const Module& module);

}  // namespace shoal::internal
