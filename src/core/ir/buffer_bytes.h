// The size of a value in memory under its layout.
#pragma once

#include "core/ir/shape.h"

namespace shoal::internal {

// Bytes of one buffer, saturating. For an array, includes tile padding and the stored sizes of its dynamic dimensions;
// for a tuple, counts only its table of 8-byte pointers. An array without a layout counts as dense.
int64_t BufferBytes(const Shape& shape);
// Bytes of an array with tile padding, but without tail padding and stored dimension sizes.
int64_t TiledBytes(const Shape& array);
// Bytes after an array that store the sizes of its dynamic dimensions: as its layout says, else 4 per dimension.
int64_t DynamicSizeBytes(const Shape& array);
// Bytes of all arrays in `shape`.
int64_t ArrayBytes(const Shape& shape);
// S(n) of an array's layout; 0 for tuples and arrays without a layout.
int64_t MemorySpaceOf(const Shape& shape);

inline constexpr int64_t kHostSpace = 5;

}  // namespace shoal::internal
