// XLA lets floats of several widths meet in one op, and an op be declared in another float type than its operands give.
// Such an op is computed in the widest type that takes part, and rounded once to what is declared.
#pragma once

#include <vector>

#include "core/ops/op.h"

namespace shoal::internal {

// In which types an instruction is computed: of each operand, and of each leaf of the result. Types of operands and
// leaves that are no floats are their own.
struct WorkingTypes {
  bool mixed = false;  // some type is not the one that is declared
  std::vector<ElementType> operands, results;  // empty where nothing is mixed, as a rule
};

// Not mixed for ops that take floats as they come (dot, convert, reduce with its function, custom-call, …).
WorkingTypes WorkingTypesOf(const Instruction& hlo);

// Gives one of its operands, with another sign at most: what has the type's digits keeps them, and is not rounded.
bool GivesAnOperand(Opcode opcode);

}  // namespace shoal::internal
