// Elementwise ops and complex numbers.
#pragma once

#include "core/ops/elementwise.h"

namespace shoal::internal {

// Of the parts of a complex number; other types are their own.
inline ElementType PartType(ElementType type) {
  if (!IsComplex(type)) return type;
  return BitWidth(type) == 128 ? ElementType::kF64 : ElementType::kF32;
}

// Ops whose Apply(b, x) or Apply(b, x, y) takes complex numbers and rounds once: XLA has no order of them and no remainder;
// logistic is made of several ops.
template <Opcode op>
constexpr bool AppliesToComplex() {
  if constexpr (op == Opcode::kMaximum || op == Opcode::kMinimum || op == Opcode::kRemainder || op == Opcode::kLogistic ||
                op == Opcode::kCompare)
    return false;
  if constexpr (requires { Op<op>::kTypes; }) return (Op<op>::kTypes & types::kComplex) != 0;
  return false;
}

// Some operand or the result is complex.
bool HasComplex(const Instruction& hlo);
// Of an elementwise op with complex numbers: one of the above, or select, convert, complex, or compare for equality, of
// operands and a result whose types go together.
bool IsPlainWithComplex(const Instruction& hlo);

}  // namespace shoal::internal
