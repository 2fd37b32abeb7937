// Where the instructions of a module that has just been read stand in their computations.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Those that are the body of a fusion. They have no schedule.
absl::flat_hash_set<const Computation*> FusedComputations(const Module& module);

// A schedule's order stays as it is; everything else comes into XLA's post-order. The one place where this is decided,
// so that text and protobuf of a module are one Module.
void OrderInstructions(Module& module);

}  // namespace shoal::internal
