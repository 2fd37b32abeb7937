// A constant value: an array's elements, or a tuple of literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/ir/shape.h"

namespace shoal::internal {

struct Literal {
  const Shape* shape = nullptr;
  // Elements in row-major order of the logical dimensions, whatever the layout. Each takes StorageBytes(type), so at
  // least one byte. Little-endian; complex numbers are real, imaginary. If shorter than the shape requires, the missing
  // elements are zero.
  std::span<std::byte> data;
  std::span<const Literal* const> elements;  // elements of a tuple
  // True for {...} in the text: the dump omits the values, and `data` is empty.
  bool elided = false;
};

// Convert between the bit pattern of a float and its value. Encoding rounds to nearest, ties to even. As in XLA,
// out-of-range values become inf. If the type has no inf, they become nan or the largest number.
double DecodeFloat(ElementType type, uint64_t bits);
uint64_t EncodeFloat(ElementType type, double value);

// One element as text: "1.5", "-inf", "nan(0x1)", "(1, 2)", "true"; with enough digits to read it back exactly.
void AppendElement(std::string& out, ElementType type, const std::byte* element);

// The value as HLO text writes it inside constant(...), on one line.
void AppendLiteral(std::string& out, const Literal& literal, bool with_shape);

}  // namespace shoal::internal
