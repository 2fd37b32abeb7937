// The index vectors of a gather or scatter: where in the operand each slice starts.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

struct IndexVectorDims {
  int64_t vector_dim = 0;                   // of the indices; may be one past their last
  Ints map;                                 // the operand's dimension that each entry of a vector is about
  Ints operand_batching, indices_batching;  // dimensions that go together
};

class IndexVectors {
 public:
  IndexVectors(const Array& indices, const IndexVectorDims& dims, int operand_rank);

  // The dimensions of the indices without the vectors'; and their product.
  const Dims& batch_dims() const { return batch_dims_; }
  int64_t count() const { return count_; }

  // Where slice `batch` (row-major in batch_dims) starts in each dimension of the operand, as the data has it.
  Ints Start(int64_t batch);

 private:
  struct Batching {
    size_t operand_dim = 0;
    int64_t stride = 1, size = 1;  // of the batch dimension
  };

  Dims batch_dims_;
  int64_t count_ = 1, vector_size_ = 1;
  std::vector<int64_t> vectors_;
  Dims map_;
  std::vector<Batching> batching_;
  Dims start_;
};

// The dimensions 0 … rank - 1 that are in neither list.
Dims DimsWithout(int rank, Ints without, Ints or_without);

}  // namespace shoal::internal
