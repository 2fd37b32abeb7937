// Grouped-query attention: each head of keys and values serves a group of consecutive query heads.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Repeats each head along `dim` so that the result has `heads` heads, a multiple of their current number.
Array RepeatHeads(const Array& array, int64_t dim, int64_t heads);
// The inverse, for gradients [batch, head, …] in f32: sums the heads of each group, so that `heads` heads remain.
Array SumHeads(const Array& gradient, int64_t heads);

}  // namespace shoal::internal
