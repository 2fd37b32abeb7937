// Copies of boxes of elements between places with any strides: what slice, transpose, broadcast, pad, concatenate and
// their relatives come down to.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// One side of a copy: the element at index i lies at `offset + Σ i[d] * strides[d]`, all in elements. Strides may be
// zero or negative.
struct Strided {
  int64_t offset = 0;
  Dims strides;
};

// One dimension of a walk over two such places at once, outermost first.
struct StridedLoop {
  int64_t size, out, in;
};
// Dimensions of size one dropped, neighbours that are one run on both sides merged; at least one loop remains.
absl::InlinedVector<StridedLoop, 6> MergedLoops(Ints sizes, Ints to, Ints from);

// For every index in `sizes`: the element of `out` at its place becomes the one of `in` at its.
void CopyStrided(Ints sizes, int element_bytes, std::byte* out, const Strided& to, const std::byte* in,
                 const Strided& from);

// Of every element of a box, in row-major order, from its first.
std::vector<int64_t> BoxOffsets(Ints sizes, Ints strides);

// Whether all elements of a box lie in an array of `count` elements.
bool IsInBounds(int64_t count, Ints sizes, const Strided& place);

// A new array of dimensions `sizes` whose element at i is that of `in` at its place. Throws std::length_error if one has
// no place there.
Array Gathered(const Array& in, Dims sizes, const Strided& from);

// The array with its dimensions in another order: result dimension d is dimension order[d].
Array Transposed(const Array& in, Ints order);

}  // namespace shoal::internal
