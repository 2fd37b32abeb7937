// Where in their operand the slices of a gather and the windows of a scatter begin.
#pragma once

#include <vector>

#include "core/base/thread_pool.h"
#include "kernels/arrays/index_vectors.h"

namespace shoal::internal {

// A dimension of the operand that goes with one of the indices' batch dimensions.
struct BatchingStride {
  int64_t stride = 1, size = 1;   // of the batch dimension, in index vectors
  int64_t element = 0, most = 0;  // of the operand's
};

// For each index vector, in row-major order: the element of an operand of `dims` at which it points. The largest start
// in each dimension is `most`; what lies outside is moved inside if `clamps`, and is -1 if not.
class SliceStarts {
 public:
  SliceStarts(const Array& indices, const IndexVectorDims& starts, Ints dims, Ints most, bool clamps);

  int64_t count() const { return count_; }
  // Of vectors [begin, end), from out[0] on.
  void Find(int64_t begin, int64_t end, int64_t* out) const { find_(*this, begin, end, out); }
  // As an array of s64.
  Array FindAll(ThreadPool& pool) const;
  // The index vectors themselves where they are what Find gives but for those outside: s32 into an operand of rank one.
  std::span<const int32_t> Plain() const;

 private:
  template <class T>
  static void FindAs(const SliceStarts& starts, int64_t begin, int64_t end, int64_t* out);

  Array vectors_;
  int64_t count_ = 0, vector_size_ = 1;
  std::vector<int64_t> strides_, most_;  // for each entry of a vector
  std::vector<BatchingStride> batching_;
  bool clamps_ = false;
  void (*find_)(const SliceStarts& starts, int64_t begin, int64_t end, int64_t* out) = nullptr;
};

// The elements of a box as runs that lie together: `length` elements from each of the offsets, in row-major order.
struct Runs {
  int64_t length = 1;
  std::vector<int64_t> offsets;
};
Runs RunsOf(Ints sizes, Ints strides);

}  // namespace shoal::internal
