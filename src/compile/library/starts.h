// Start offsets of the slices of a gather and of the windows of a scatter in their operand.
#pragma once

#include <vector>

#include "core/base/thread_pool.h"
#include "kernels/arrays/index_vectors.h"

namespace shoal::internal {

// An operand dimension that corresponds to a batch dimension of the indices.
struct BatchingStride {
  int64_t stride = 1, size = 1;        // stride in index vectors and size of the batch dimension
  int64_t element = 0, max_start = 0;  // stride and maximum start of the operand dimension
};

// Computes the element offset in an operand of `dims` for each index vector, in row-major order. `max_starts` is the
// maximum start in each dimension. Starts that are out of bounds are clamped if `clamps`, else their offset is -1.
class SliceStarts {
 public:
  SliceStarts(const Array& indices, const IndexVectorDims& starts, Ints dims, Ints max_starts, bool clamps);

  int64_t count() const { return count_; }
  // Writes the offsets of index vectors [begin, end) to `out`, starting at out[0].
  void Find(int64_t begin, int64_t end, int64_t* out) const { find_(*this, begin, end, out); }
  // All offsets, as an array of s64.
  Array FindAll(ThreadPool& pool) const;
  // The indices, if they are offsets already (s32 into an operand of rank one); else empty. Not bounds-checked.
  std::span<const int32_t> PlainIndices() const;

 private:
  template <class T>
  static void FindAs(const SliceStarts& starts, int64_t begin, int64_t end, int64_t* out);

  Array vectors_;
  int64_t count_ = 0, vector_size_ = 1;
  std::vector<int64_t> strides_, max_starts_;  // for each entry of a vector
  std::vector<BatchingStride> batching_;
  bool clamps_ = false;
  void (*find_)(const SliceStarts& starts, int64_t begin, int64_t end, int64_t* out) = nullptr;
};

// The elements of a box as contiguous runs: `length` elements from each of the offsets, in row-major order.
struct Runs {
  int64_t length = 1;
  std::vector<int64_t> offsets;
};
Runs RunsOf(Ints sizes, Ints strides);

}  // namespace shoal::internal
