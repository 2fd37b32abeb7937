// The index vectors of a gather or scatter: the start of each slice in the operand.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

struct IndexVectorDims {
  int64_t vector_dim = 0;                   // dimension of the indices; may be one past the last
  Ints map;                                 // the operand dimension of each entry of a vector
  Ints operand_batching, indices_batching;  // paired dimensions
};

class IndexVectors {
 public:
  IndexVectors(const Array& indices, const IndexVectorDims& dims, int operand_rank);

  // The dimensions of the indices without vector_dim; and their product, the number of slices.
  const Dims& batch_dims() const { return batch_dims_; }
  int64_t count() const { return count_; }

  // The start of slice `batch` (row-major in batch_dims) in each operand dimension, not clamped.
  Ints Start(int64_t batch);

 private:
  struct Batching {
    size_t operand_dim = 0;
    int64_t stride = 1, size = 1;  // for the batch dimension
  };

  Dims batch_dims_;
  int64_t count_ = 1, vector_size_ = 1;
  std::vector<int64_t> vectors_;
  Dims map_;
  std::vector<Batching> batching_;
  Dims start_;
};

// The dimensions 0 … rank - 1 that are in neither list.
Dims DimsWithout(int rank, Ints excluded, Ints also_excluded);

}  // namespace shoal::internal
