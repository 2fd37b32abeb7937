// The offsets of a slice as values: a tuple of integer scalars, one per dimension; or, for several slices, a tuple of
// such tuples.
#pragma once

#include "kernels/arrays/strided.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

// True if `offsets` has one of these forms for an array of rank `rank`.
bool AreSliceOffsets(const Value& offsets, int64_t rank);
// The box of the given sizes at the offsets of slice number `slice`, clamped to the array.
Strided SliceBox(const Array& array, Ints sizes, const Value& offsets, int64_t slice);

}  // namespace shoal::internal
