// The largest or smallest elements: the op topk and the custom calls of the same meaning.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

struct TopKParts {
  Array values, indices;  // indices are s32
};

// The k first elements of each row (the last dimension) in descending order if `largest`, else ascending; floats in
// total order; of equal elements the one with the lower index comes first. k is at most the size of a row.
TopKParts TopK(const Array& operand, int64_t k, bool largest);

}  // namespace shoal::internal
