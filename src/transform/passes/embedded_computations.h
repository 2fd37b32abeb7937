// Computations that are a part of the op that calls them.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Computations that are not executed one instruction at a time: bodies of fusions, custom calls and ops such as reduce.
absl::flat_hash_set<const Computation*> EmbeddedComputations(const Module& module);
// The embedded computations that an async-start wraps. Each must keep its single op.
absl::flat_hash_set<const Computation*> WrappedComputations(const Module& module);

}  // namespace shoal::internal
