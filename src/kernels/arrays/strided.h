// Copies of boxes of elements with arbitrary strides, the basis of slice, transpose, broadcast, pad, concatenate and
// similar ops.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// One side of a copy: the element at index i is at `offset + Σ i[d] * strides[d]`, counted in elements. Strides may be
// zero or negative.
struct Strided {
  int64_t offset = 0;
  Dims strides;
};

// One loop of the loop nest that copies a box: its size, and its stride in the output and in the input.
struct StridedLoop {
  int64_t size, out, in;
};
// The loops of a copy, outermost first. Drops loops of size one and merges contiguous ones; at least one loop remains.
absl::InlinedVector<StridedLoop, 6> MergedLoops(Ints sizes, Ints to, Ints from);

// Copies a box: for every index within `sizes`, assigns the element of `in` to the element of `out`.
void CopyStrided(Ints sizes, int element_bytes, std::byte* out, const Strided& to, const std::byte* in,
                 const Strided& from);

// The offset of every element of a box relative to the first, in row-major order.
std::vector<int64_t> BoxOffsets(Ints sizes, Ints strides);

// True if all elements of a box are inside an array of `count` elements.
bool IsInBounds(int64_t count, Ints sizes, const Strided& box);

// A box of `in`, copied to a new array of dimensions `sizes`. Throws std::length_error if the box is out of bounds.
Array Gathered(const Array& in, Dims sizes, const Strided& from);

// The array with its dimensions in another order: result dimension d is dimension order[d] of `in`.
Array Transposed(const Array& in, Ints order);

}  // namespace shoal::internal
