// Bitcasts see memory through another layout. Arrays here are row-major, so elements may have to move.
#pragma once

#include <optional>
#include <vector>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Dimensions from the slowest in memory to the fastest; row-major where the text gives no layout.
Dims MajorToMinor(const Shape& shape);

// A factor of the sizes of two shapes that lies in memory as one: how many elements, and how far apart they are in
// row-major arrays of the two shapes.
struct LayoutFactor {
  int64_t size = 1, from = 1, to = 1;
};
// Nothing where the sizes have no such factors, as 6 and 4,3.
std::optional<std::vector<LayoutFactor>> CommonFactors(const Shape& from, const Shape& to);

// Whether no element moves.
bool IsIdentity(const std::vector<LayoutFactor>& factors);
// The same of a bitcast: both layouts have elements in the same order that row-major arrays of these shapes have.
bool StaysRowMajor(const Shape& from, const Shape& to);

// Elements of the same width in the order of the other layout, in one copy at most.
Array Moved(const Array& array, std::vector<LayoutFactor> factors, const Shape& to);
// The elements in the order in which the layout has them in memory.
Array InMemoryOrder(const Array& array, const Shape& shape);
// The array of `shape` whose elements lie in memory as given.
Array FromMemoryOrder(const Array& memory, const Shape& shape);

// In a bitcast a pred is a byte.
int BitcastBits(ElementType type);
// The same bits as elements of another type: a narrower one takes several places, the low bits first.
Array AsType(const Array& array, ElementType type, Dims dims);

}  // namespace shoal::internal
