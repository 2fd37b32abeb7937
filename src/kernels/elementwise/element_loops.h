// Elementwise ops as loops over elements.
#pragma once

#include "core/ops/families.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// out[i] = f(in[0][i], in[1][i], in[2][i]) for i < n, by the meaning in core/ops/elementwise.h.
struct ElementLoop {
  using Loop = void (*)(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n);
  Loop loop = nullptr;
  Loop inner = nullptr;  // where operands are first widened: the loop over wide elements
  ElementType result = ElementType::kInvalid;
  ElementType operands[3] = {};
  int8_t operand_count = 0;
  int8_t exponent_bits = 0, mantissa_bits = 0;  // of reduce-precision
  bool masks_operands = false;                  // of integers below a byte, only the type's own bits count
  bool counts_zeros = false;                    // clz: of the type's own bits

  void Run(std::byte* out, const std::byte* const* in, int64_t n) const { loop(*this, out, in, n); }
};

// The loop of an elementwise instruction.
ElementLoop ElementLoopFor(const Instruction& hlo);
// The loop of op(x, y) for two elements of one type, such as add, and that of a conversion.
ElementLoop BinaryKernel(Opcode op, ElementType type);
ElementLoop ConvertKernel(ElementType from, ElementType to);

// The array in another element type, as convert has it.
Array Converted(const Array& array, ElementType type);

}  // namespace shoal::internal
