// Correspondence of result and operand dimensions: the batch dimension of a dot is the batch dimension of its operands.
#pragma once

#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct OperandDimension {
  size_t operand = 0;
  int64_t dimension = 0;
};

// The operand dimensions that a partitioner splits together with `dimension` of the result, which is an array: elements
// at an index there come from the same index, or from one nearby (the halo of a window). Empty if the dimension is new
// (iota, broadcast), is the concatenated one, or has no counterpart.
std::vector<OperandDimension> DimensionSources(const Instruction& hlo, int64_t dimension);

}  // namespace shoal::internal
