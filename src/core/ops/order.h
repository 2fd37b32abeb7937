// The order of the instructions in the computations of a parsed module.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "core/ir/module.h"

namespace shoal::internal {

// The computations that are the body of a fusion. They have no schedule.
absl::flat_hash_set<const Computation*> FusedComputations(const Module& module);

// Keeps the order of a schedule, and puts all other computations into XLA's post-order. All readers use this, so that
// the text and the protobuf of a module yield the same Module.
void OrderInstructions(Module& module);

}  // namespace shoal::internal
