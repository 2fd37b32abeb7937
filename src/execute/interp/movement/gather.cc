// gather: copies slices of the operand that begin at data-dependent indices.
#include <algorithm>
#include <cstring>

#include "execute/interp/evaluate.h"
#include "kernels/arrays/index_vectors.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

using Gather = Op<Opcode::kGather>;

// The source and destination of the slices.
struct Slices {
  Dims max_starts;   // maximum start in each operand dimension
  Dims sizes;        // sizes of the dimensions that are not collapsed
  Strided from, to;  // over the same dimensions; excluding the offset of each slice
  Dims result_dims;
  Dims batch_strides;  // strides in the result
};

// If a slice has the full size of a dynamic dimension, its actual size is that of the dimension.
Result<Dims> SliceSizes(const Call& call) {
  const Shape& declared = call.hlo.operand_shape(0);
  Dims sizes = ToDims(call.hlo[Gather::kSliceSizes]);
  for (int64_t d = 0; d < declared.rank(); ++d) {
    int64_t& size = sizes[static_cast<size_t>(d)];
    const int64_t actual = call.array(0).dim(d);
    if (size == declared.dim(d)) size = actual;
    if (size > actual) return ExecutionError(call.hlo, StrCat("slice size ", size, " exceeds dimension size ", actual));
  }
  return sizes;
}

Result<Slices> SlicesOf(const Call& call, const IndexVectors& vectors) {
  const Array& operand = call.array(0);
  SHOAL_ASSIGN(sizes, SliceSizes(call));
  const Dims strides = RowMajorStrides(operand.dims());
  Ints offset_dims = call.hlo[Gather::kOffsetDims];
  const Dims sliced =
      DimsWithout(operand.rank(), call.hlo[Gather::kCollapsedSliceDims], call.hlo[Gather::kOperandBatchingDims]);
  Slices slices;
  for (int64_t d = 0; d < operand.rank(); ++d) slices.max_starts.push_back(operand.dim(d) - 1);
  for (int64_t d : sliced) {
    const auto at = static_cast<size_t>(d);
    slices.max_starts[at] = operand.dim(d) - sizes[at];
    slices.sizes.push_back(sizes[at]);
    slices.from.strides.push_back(strides[at]);
  }

  const int rank = static_cast<int>(offset_dims.size() + vectors.batch_dims().size());
  const Dims batch = DimsWithout(rank, offset_dims, {});
  slices.result_dims.resize(static_cast<size_t>(rank));
  for (size_t i = 0; i < sliced.size(); ++i) slices.result_dims[static_cast<size_t>(offset_dims[i])] = slices.sizes[i];
  for (size_t i = 0; i < batch.size(); ++i) slices.result_dims[static_cast<size_t>(batch[i])] = vectors.batch_dims()[i];
  const Dims result_strides = RowMajorStrides(AsInts(slices.result_dims));
  for (int64_t d : offset_dims) slices.to.strides.push_back(result_strides[static_cast<size_t>(d)]);
  for (int64_t d : batch) slices.batch_strides.push_back(result_strides[static_cast<size_t>(d)]);
  return slices;
}

// The offset of each slice in the result, in row-major order of the batch dimensions.
class BatchOffsets {
 public:
  BatchOffsets(const Dims& sizes, const Dims& strides) : sizes_(sizes), strides_(strides), index_(sizes.size(), 0) {}
  int64_t offset() const { return offset_; }
  void Next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      offset_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      offset_ -= index_[d] * strides_[d];
      index_[d] = 0;
    }
  }

 private:
  const Dims& sizes_;
  const Dims& strides_;
  Dims index_;
  int64_t offset_ = 0;
};

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kGather>(Call& call) {
  const Array& operand = call.array(0);
  const Instruction& hlo = call.hlo;
  IndexVectors vectors(call.array(1),
                       {hlo[kIndexVectorDim], hlo[Gather::kStartIndexMap], hlo[Gather::kOperandBatchingDims],
                        hlo[Gather::kStartIndicesBatchingDims]},
                       operand.rank());
  SHOAL_ASSIGN(slices, SlicesOf(call, vectors));
  if (operand.count() == 0) return Value(Array::Zeros(operand.type(), AsInts(slices.result_dims)));

  Array result(operand.type(), slices.result_dims);
  std::byte* out = result.mutable_data();
  const auto width = static_cast<size_t>(operand.element_bytes());
  const Dims strides = RowMajorStrides(operand.dims());
  const auto loops = MergedLoops(AsInts(slices.sizes), AsInts(slices.to.strides), AsInts(slices.from.strides));
  // The common case: each slice is contiguous in both arrays, such as a row or a single element.
  const bool is_run = loops.size() == 1 && (loops[0].size == 1 || (loops[0].in == 1 && loops[0].out == 1));
  BatchOffsets to(vectors.batch_dims(), slices.batch_strides);
  if (result.count() == 0) return Value(std::move(result));
  for (int64_t b = 0; b < vectors.count(); ++b, to.Next()) {
    Ints start = vectors.Start(b);
    int64_t from = 0;
    for (size_t d = 0; d < strides.size(); ++d)
      from += std::clamp<int64_t>(start[d], 0, slices.max_starts[d]) * strides[d];
    if (is_run) {
      std::memcpy(out + static_cast<size_t>(to.offset()) * width, operand.data() + static_cast<size_t>(from) * width,
                  static_cast<size_t>(loops[0].size) * width);
      continue;
    }
    slices.to.offset = to.offset();
    slices.from.offset = from;
    CopyStrided(AsInts(slices.sizes), operand.element_bytes(), out, slices.to, operand.data(), slices.from);
  }
  return Value(std::move(result));
}

}  // namespace shoal::internal
