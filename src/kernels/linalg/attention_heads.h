// Keys and values may have fewer heads than queries: each of theirs serves as many queries' heads in a row.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// The array with each head along `dim` repeated, so that there are `heads`; their number now must divide that.
Array RepeatHeads(const Array& array, int64_t dim, int64_t heads);
// The other way round, for gradients in f32: sums those of [batch, head, …] that belong to one of `heads`.
Array SumHeads(const Array& gradient, int64_t heads);

}  // namespace shoal::internal
