// Operands that an op writes its result over, whatever its back end.
#pragma once

#include <vector>

#include "ir/module.h"

namespace shoal {

// Part `result_index` of the result has the place of part `operand_index` of an operand.
struct InPlace {
  int64_t operand = 0;
  ShapeIndex operand_index, result_index;
};
std::vector<InPlace> InPlaceOf(const Instruction& hlo);

}  // namespace shoal
