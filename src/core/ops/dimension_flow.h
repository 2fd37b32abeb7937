// Correspondence of result and operand dimensions. Example: a dot's batch dimension is that of its operands.
#pragma once

#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct OperandDimension {
  size_t operand = 0;
  int64_t dimension = 0;
  bool reversed = false;  // the partitioner assigns the parts to the devices in reverse order
};

// The operand dimensions that a partitioner splits together with `dimension` of the result, an array. Elements at an
// index of `dimension` come from the same index, or from a nearby one (the halo of a window). Empty if the dimension is
// new (iota, broadcast), is the concatenated one, or has no counterpart.
std::vector<OperandDimension> DimensionSources(const Instruction& hlo, int64_t dimension);

}  // namespace shoal::internal
