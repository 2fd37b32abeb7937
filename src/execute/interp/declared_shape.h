// Checks a value against the shape its instruction declares. A mismatch stops the run at the instruction that produced
// it, so every evaluator may trust its operands.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// True if a value has the types and sizes of a shape. A dynamic dimension may be shorter. A pending value always
// passes. `allow_missing`: unused parts may be missing, such as the operands in a start's tuple.
bool HasShape(const Value& value, const Shape& shape, bool allow_missing = false);

// Fails at the instruction if its value does not match its declared shape.
Status CheckDeclaredShape(const Instruction& hlo, const Value& value);

// Converts floats to their declared types.
Value WithDeclaredTypes(Value value, const Shape& shape);

// (f32[2,3], s32[])
std::string ToString(const Value& value);

}  // namespace shoal::internal
