// Bitcasts reinterpret memory under another layout. Arrays in shoal are row-major, so a bitcast may move elements.
#pragma once

#include <optional>
#include <vector>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// The dimensions from the slowest in memory to the fastest; row-major if the shape has no layout.
Dims MajorToMinor(const Shape& shape);

// A common factor of the layouts of two shapes: its size, and its strides in row-major arrays of the two shapes.
struct LayoutFactor {
  int64_t size = 1, from = 1, to = 1;
};
// Nothing if the sizes cannot be factored that way, such as 6 and 4,3.
std::optional<std::vector<LayoutFactor>> CommonFactors(const Shape& from, const Shape& to);

// True if no element moves.
bool IsIdentity(const std::vector<LayoutFactor>& factors);
// True if a bitcast between these shapes moves no element of a row-major array.
bool StaysRowMajor(const Shape& from, const Shape& to);

// The result of a bitcast to `to`, with at most one copy. The elements must have equal width.
Array Moved(const Array& array, std::vector<LayoutFactor> factors, const Shape& to);
// The elements in the memory order of the shape's layout.
Array InMemoryOrder(const Array& array, const Shape& shape);
// The inverse: returns the array of `shape` whose elements in memory order equal `memory`.
Array FromMemoryOrder(const Array& memory, const Shape& shape);

// Bits of an element in a bitcast, where a pred is a byte.
int BitcastBits(ElementType type);
// The bits as elements of another type. A wide element becomes several narrow ones, the low bits first.
Array AsType(const Array& array, ElementType type, Dims dims);

}  // namespace shoal::internal
