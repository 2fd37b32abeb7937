// Where in their operand the slices of a gather and the windows of a scatter begin.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "kernels/index_vectors.h"

namespace shoal {

// For each index vector, in row-major order: the element of an operand of `dims` at which it points. The largest start
// in each dimension is `most`; what lies outside is moved inside if `clamps`, and is -1 if not.
std::vector<int64_t> StartsOf(const Array& indices, const IndexVectorDims& starts, Ints dims, Ints most, bool clamps,
                              ThreadPool& pool);

// The elements of a box as runs that lie together: `length` elements from each of the offsets, in row-major order.
struct Runs {
  int64_t length = 1;
  std::vector<int64_t> offsets;
};
Runs RunsOf(Ints sizes, Ints strides);

}  // namespace shoal
