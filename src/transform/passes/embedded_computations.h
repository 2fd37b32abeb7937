// Parts of ops: computations that belong to the op that names them, and attributes.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Functions of elements, fused computations, and what custom calls were given: they are not run as they are written.
absl::flat_hash_set<const Computation*> EmbeddedComputations(const Module& module);
// Those that an async-start wraps: one op each, which has to stay one; they are among the ones above.
absl::flat_hash_set<const Computation*> WrappedComputations(const Module& module);

}  // namespace shoal::internal
