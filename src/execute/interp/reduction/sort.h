// Sorts along a dimension, for the op sort and for custom calls.
#pragma once

#include <vector>

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// Sorts the operands, which must have equal dimensions, along `dim` with the comparator. If not `is_stable`, elements
// that compare equal are ordered as in XLA:CPU.
Result<std::vector<Array>> SortedAlong(const Instruction& hlo, int64_t dim, const Computation& comparator, Device& device,
                                       std::vector<Array> operands, bool is_stable = true);

}  // namespace shoal::internal
