#include "compile/library/starts.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

// Indices that do not fit in int64 become its maximum, so that an out-of-bounds index stays out of bounds.
template <class T>
int64_t AsIndex(T value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

}  // namespace

template <class T>
void SliceStarts::FindAs(const SliceStarts& s, int64_t begin, int64_t end, int64_t* out) {
  const T* vectors = s.vectors_.As<T>().data();
  const size_t entries = s.strides_.size();
  if (entries == 1 && s.batching_.empty() && s.vector_size_ == 1) {
    const int64_t max_start = s.max_starts_[0], stride = s.strides_[0], outside = s.clamps_ ? 0 : -1;
    for (int64_t b = begin; b < end; ++b, ++out) {
      const int64_t index = AsIndex(vectors[b]), inside = std::clamp<int64_t>(index, 0, max_start);
      *out = index != inside && outside < 0 ? outside : inside * stride;
    }
    return;
  }
  for (int64_t b = begin; b < end; ++b, ++out) {
    const T* vector = vectors + b * s.vector_size_;
    int64_t start = 0;
    bool outside = false;
    for (size_t i = 0; i < entries; ++i) {
      const int64_t index = AsIndex(vector[i]), inside = std::clamp<int64_t>(index, 0, s.max_starts_[i]);
      outside |= index != inside;
      start += inside * s.strides_[i];
    }
    for (const BatchingStride& dim : s.batching_) {
      const int64_t index = b / dim.stride % dim.size, inside = std::clamp<int64_t>(index, 0, dim.max_start);
      outside |= index != inside;
      start += inside * dim.element;
    }
    *out = outside && !s.clamps_ ? -1 : start;
  }
}

SliceStarts::SliceStarts(const Array& indices, const IndexVectorDims& dims, Ints operand, Ints max_starts, bool clamps) : clamps_(clamps) {
  const Dims batch = DimsWithout(indices.rank(), Ints(&dims.vector_dim, 1), {});
  const Dims element_strides = RowMajorStrides(operand);
  Dims batch_sizes, order = batch;
  for (int64_t d : batch) batch_sizes.push_back(indices.dim(d));
  if (dims.vector_dim < indices.rank()) {
    vector_size_ = indices.dim(dims.vector_dim);
    order.push_back(dims.vector_dim);
  }
  for (size_t i = 0; i < std::min(dims.map.size(), static_cast<size_t>(vector_size_)); ++i) {
    const auto d = static_cast<size_t>(dims.map[i]);
    strides_.push_back(element_strides[d]);
    max_starts_.push_back(max_starts[d]);
  }
  const Dims batch_strides = RowMajorStrides(AsInts(batch_sizes));
  for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
    const auto d = static_cast<size_t>(dims.operand_batching[i]);
    const auto at = static_cast<size_t>(std::find(batch.begin(), batch.end(), dims.indices_batching[i]) - batch.begin());
    if (at < batch.size()) batching_.push_back({batch_strides[at], batch_sizes[at], element_strides[d], max_starts[d]});
  }
  vectors_ = std::is_sorted(order.begin(), order.end()) ? indices : Transposed(indices, AsInts(order));
  count_ = ElementCount(AsInts(batch_sizes));
  const bool is_signed = IsSigned(indices.type());
  switch (indices.element_bytes()) {
    case 1:
      find_ = is_signed ? &FindAs<int8_t> : &FindAs<uint8_t>;
      break;
    case 2:
      find_ = is_signed ? &FindAs<int16_t> : &FindAs<uint16_t>;
      break;
    case 4:
      find_ = is_signed ? &FindAs<int32_t> : &FindAs<uint32_t>;
      break;
    default:
      find_ = is_signed ? &FindAs<int64_t> : &FindAs<uint64_t>;
  }
}

Array SliceStarts::FindAll(ThreadPool& pool) const {
  Array starts(ElementType::kS64, Ints(&count_, 1));
  int64_t* out = starts.Mutable<int64_t>().data();
  ForBlocks(pool, count_, 1 << 13, [&](int64_t begin, int64_t end) { Find(begin, end, out + begin); });
  return starts;
}

std::span<const int32_t> SliceStarts::PlainIndices() const {
  const bool is_plain = strides_.size() == 1 && strides_[0] == 1 && batching_.empty() && vector_size_ == 1;
  return is_plain && vectors_.type() == ElementType::kS32 ? vectors_.As<int32_t>() : std::span<const int32_t>();
}

Runs RunsOf(Ints sizes, Ints strides) {
  Runs runs;
  size_t outer = sizes.size();
  // Contiguous innermost dimensions form one run.
  while (outer > 0 && (sizes[outer - 1] == 1 || strides[outer - 1] == runs.length)) runs.length *= sizes[--outer];
  runs.offsets = BoxOffsets(sizes.first(outer), strides.first(outer));
  return runs;
}

}  // namespace shoal::internal
