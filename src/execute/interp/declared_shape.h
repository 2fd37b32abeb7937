// Checks a value against the declared shape of its instruction. A mismatch stops the run at the instruction that
// produced the value, so every evaluator may trust its operands.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// True if a value has the types and sizes of a shape. Dynamic dimensions may be shorter. A pending value always passes.
// If `allow_missing`, unused parts may be missing, such as the operands in a start's tuple.
bool HasShape(const Value& value, const Shape& shape, bool allow_missing = false);

// Fails, with the instruction's location, if its value does not match its declared shape.
Status CheckDeclaredShape(const Instruction& hlo, const Value& value);

// Converts floats to their declared types.
Value WithDeclaredTypes(Value value, const Shape& shape);

// The types of a value as text: (f32[2,3], s32[]).
std::string ToString(const Value& value);

}  // namespace shoal::internal
