// Elementwise ops as loops over elements.
#pragma once

#include "core/ops/families.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// out[i] = f(in[0][i], in[1][i], in[2][i]) for i < n, with f as defined in core/ops/elementwise.h.
struct ElementLoop {
  using Loop = void (*)(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n);
  Loop loop = nullptr;
  Loop inner = nullptr;  // the loop over widened elements, if operands are widened first
  ElementType result = ElementType::kInvalid;
  ElementType operands[3] = {};
  int8_t operand_count = 0;
  int8_t exponent_bits = 0, mantissa_bits = 0;  // for reduce-precision
  bool masks_operands = false;                  // integers narrower than a byte: reads only the type's bits
  bool counts_zeros = false;                    // clz: counts within the type's bits

  void Run(std::byte* out, const std::byte* const* in, int64_t n) const { loop(*this, out, in, n); }
};

// The loop of an elementwise instruction.
ElementLoop ElementLoopFor(const Instruction& hlo);
// The loop of a binary op such as add on operands of one type, and the loop of a conversion.
ElementLoop ElementLoopForBinary(Opcode op, ElementType type);
ElementLoop ElementLoopForConvert(ElementType from, ElementType to);

// The array converted to another element type, as by the op convert.
Array Converted(const Array& array, ElementType type);

}  // namespace shoal::internal
