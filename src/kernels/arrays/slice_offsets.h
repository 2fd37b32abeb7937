// Where a slice of an array begins, as values: a tuple of scalars, one for each dimension; or a tuple of such tuples, one
// for each of several slices.
#pragma once

#include "kernels/arrays/strided.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

// Whether they are that, for an array of so many dimensions.
bool AreSliceOffsets(const Value& offsets, int64_t rank);
// The box of these sizes that begins there, of slice number `turn`, moved inside of the array.
Strided BoxIn(const Array& array, Ints sizes, const Value& offsets, int64_t turn);

}  // namespace shoal::internal
