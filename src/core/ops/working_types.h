// XLA allows floats of several widths in one op, and a declared float type that differs from the operands' type. Such
// an op is computed in the widest type among operands and result, and rounded once to the declared type.
#pragma once

#include <vector>

#include "core/ops/op.h"

namespace shoal::internal {

// The types in which an instruction is computed. Types other than floats are the declared ones.
struct WorkingTypes {
  bool mixed = false;                          // some type differs from the declared one
  std::vector<ElementType> operands, results;  // per operand, per leaf of the result; usually empty if not mixed
};

// Not mixed for ops that accept any float types (dot, convert, reduce with its function, custom-call, …).
WorkingTypes WorkingTypesOf(const Instruction& hlo);

// True if the result is one of the operands, up to its sign. Such a result is representable, so it is not rounded.
bool ReturnsAnOperand(Opcode opcode);

}  // namespace shoal::internal
