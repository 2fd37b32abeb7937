// What an instruction declares, and the value it has. A value that is not what is declared is stopped where it arises, so
// that every evaluator may trust its operands.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// Whether a value has the types and sizes of a shape; a dynamic dimension may be shorter. What is under way may become
// anything. `may_lack`: parts that nobody asks for may be missing, as those of a start's tuple.
bool HasShape(const Value& value, const Shape& shape, bool may_lack = false);

// Fails at the instruction if its value is not what it declares.
Status CheckDeclared(const Instruction& hlo, const Value& value);

// Floats of other types than declared converted to those.
Value WithDeclaredTypes(Value value, const Shape& shape);

// (f32[2,3], s32[])
std::string ToString(const Value& value);

}  // namespace shoal::internal
