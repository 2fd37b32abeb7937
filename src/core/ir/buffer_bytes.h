// How much memory a value takes as its layout has it.
#pragma once

#include "core/ir/shape.h"

namespace shoal::internal {

// Of one buffer: an array with the padding of its tiles and the sizes of its dynamic dimensions, a tuple's table of
// 8-byte pointers. Arrays without a layout count as dense. Saturates.
int64_t BufferBytes(const Shape& shape);
// Of an array: with the padding of its tiles, without that at its end.
int64_t TiledBytes(const Shape& array);
// What lies behind an array with dynamic dimensions: as its layout says, else a number of 4 bytes for each dimension.
int64_t DynamicSizeBytes(const Shape& array);
// Of all arrays in it.
int64_t ArrayBytes(const Shape& shape);
// S(n) of an array's layout; tuples and what has no layout: 0.
int64_t MemorySpaceOf(const Shape& shape);

inline constexpr int64_t kHostSpace = 5;

}  // namespace shoal::internal
