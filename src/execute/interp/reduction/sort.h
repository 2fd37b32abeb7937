// Sorting along a dimension, for the op sort and for custom calls that are sorts.
#pragma once

#include <vector>

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// Sorts the operands, all of equal dimensions, along `dim` by the comparator. If not stable, elements that compare
// equal are ordered as in XLA:CPU.
Result<std::vector<Array>> SortedAlong(const Instruction& hlo, int64_t dim, const Computation& comparator, Device& device,
                                       std::vector<Array> operands, bool is_stable = true);

}  // namespace shoal::internal
