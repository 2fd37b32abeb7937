// Sorting along a dimension, for the op sort and for custom calls that come down to it.
#pragma once

#include <vector>

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// The operands, all of the same dimensions, in the order in which the comparator puts their elements along `dim`.
// Not stable: elements that compare equal stand as XLA:CPU leaves them.
Result<std::vector<Array>> SortedAlong(const Instruction& hlo, int64_t dim, const Computation& comparator, Device& device,
                                       std::vector<Array> operands, bool is_stable = true);

}  // namespace shoal::internal
