#include "kernels/arrays/index_vectors.h"

#include <algorithm>
#include <limits>

#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

// Element i as an index. Values above INT64_MAX become INT64_MAX, so that they stay out of bounds.
int64_t IndexAt(const Array& indices, int64_t i) {
  const int64_t index = IntAt(indices, i);
  if (index < 0 && indices.type() == ElementType::kU64) return std::numeric_limits<int64_t>::max();
  return index;
}

}  // namespace

Dims DimsWithout(int rank, Ints excluded, Ints also_excluded) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d) {
    const bool is_excluded = std::find(excluded.begin(), excluded.end(), d) != excluded.end() ||
                             std::find(also_excluded.begin(), also_excluded.end(), d) != also_excluded.end();
    if (!is_excluded) dims.push_back(d);
  }
  return dims;
}

IndexVectors::IndexVectors(const Array& indices, const IndexVectorDims& dims, int operand_rank)
    : map_(ToDims(dims.map)), start_(static_cast<size_t>(operand_rank), 0) {
  const int64_t vector_dim = dims.vector_dim;
  const Dims batch = DimsWithout(indices.rank(), Ints(&vector_dim, 1), {});
  for (int64_t d : batch) batch_dims_.push_back(indices.dim(d));
  count_ = ElementCount(AsInts(batch_dims_));
  if (vector_dim < indices.rank()) vector_size_ = indices.dim(vector_dim);

  Dims order = batch;
  if (vector_dim < indices.rank()) order.push_back(vector_dim);
  const Array vectors_last = Transposed(indices, AsInts(order));
  vectors_.resize(static_cast<size_t>(vectors_last.count()));
  for (size_t i = 0; i < vectors_.size(); ++i) vectors_[i] = IndexAt(vectors_last, static_cast<int64_t>(i));

  const Dims strides = RowMajorStrides(AsInts(batch_dims_));
  for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
    const auto at =
        static_cast<size_t>(std::find(batch.begin(), batch.end(), dims.indices_batching[i]) - batch.begin());
    if (at < batch.size())
      batching_.push_back({static_cast<size_t>(dims.operand_batching[i]), strides[at], batch_dims_[at]});
  }
}

Ints IndexVectors::Start(int64_t batch) {
  const int64_t* vector = vectors_.data() + batch * vector_size_;
  const size_t n = std::min(map_.size(), static_cast<size_t>(vector_size_));
  for (size_t i = 0; i < n; ++i) start_[static_cast<size_t>(map_[i])] = vector[i];
  for (const Batching& dim : batching_) start_[dim.operand_dim] = batch / dim.stride % dim.size;
  return AsInts(start_);
}

}  // namespace shoal::internal
