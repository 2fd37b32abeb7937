// The largest or smallest elements, for the op topk and for equivalent custom calls.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

struct TopKParts {
  Array values, indices;  // indices are s32
};

// The first k elements of each row (the last dimension) in descending order if `largest`, else in ascending order.
// Floats are in total order, equal elements in order of index. k is at most the size of a row.
TopKParts TopK(const Array& operand, int64_t k, bool largest);

}  // namespace shoal::internal
