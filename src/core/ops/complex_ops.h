// Complex numbers in elementwise ops.
#pragma once

#include "core/ops/elementwise.h"

namespace shoal::internal {

// The type of a complex type's real and imaginary parts; other types are unchanged.
inline ElementType PartType(ElementType type) {
  if (!IsComplex(type)) return type;
  return BitWidth(type) == 128 ? ElementType::kF64 : ElementType::kF32;
}

// True for ops whose Apply(b, x) or Apply(b, x, y) accepts complex numbers and rounds once. XLA does not define an
// order or a remainder of complex numbers. logistic consists of several ops, so it rounds more than once.
template <Opcode op>
constexpr bool AppliesToComplex() {
  if constexpr (op == Opcode::kMaximum || op == Opcode::kMinimum || op == Opcode::kRemainder || op == Opcode::kLogistic ||
                op == Opcode::kCompare)
    return false;
  if constexpr (requires { Op<op>::kTypes; }) return (Op<op>::kTypes & types::kComplex) != 0;
  return false;
}

// True if the result or an operand is complex.
bool HasComplex(const Instruction& hlo);
// For elementwise ops on complex numbers. True for the ops of AppliesToComplex, select, convert, complex, real, imag,
// abs and comparisons for equality, if the types of operands and result match.
bool IsSimpleComplexOp(const Instruction& hlo);

}  // namespace shoal::internal
