// Dimensions that run along with each other: the batch of a product is the batch of its operand.
#pragma once

#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct OperandDimension {
  size_t operand = 0;
  int64_t dimension = 0;
};

// The dimensions of operands that a partitioner divides as it divides `dimension` of the result, which is an array:
// where the elements at an index there come from the same index, or nearly so (the halo of a window). Empty if the
// dimension is new (iota, broadcast), is the one that the op puts together, or has no counterpart.
std::vector<OperandDimension> DimensionSources(const Instruction& hlo, int64_t dimension);

}  // namespace shoal::internal
