// scatter: combines updates with the elements of an array at data-dependent indices.
#include <algorithm>

#include "kernels/arrays/index_vectors.h"
#include "execute/interp/movement/scatter_updates.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

using Scatter = Op<Opcode::kScatter>;

// The position of the elements of one update window in the operand.
struct UpdateWindow {
  Dims max_starts;               // maximum start in each operand dimension
  std::vector<int64_t> offsets;  // offset of each window element from the window start
  std::vector<int64_t> order;    // dimensions of the updates, window dimensions last
};

UpdateWindow WindowOf(const Instruction& hlo, const Array& operand, const Array& updates) {
  Ints window_dims = hlo[Scatter::kUpdateWindowDims];
  const Dims strides = RowMajorStrides(operand.dims());
  const Dims sliced = DimsWithout(operand.rank(), hlo[Scatter::kInsertedWindowDims], hlo[Scatter::kInputBatchingDims]);
  UpdateWindow window;
  for (int64_t d = 0; d < operand.rank(); ++d) window.max_starts.push_back(operand.dim(d) - 1);
  Dims sizes, sliced_strides;
  for (size_t i = 0; i < sliced.size(); ++i) {
    const auto d = static_cast<size_t>(sliced[i]);
    sizes.push_back(updates.dim(window_dims[i]));
    sliced_strides.push_back(strides[d]);
    window.max_starts[d] = operand.dim(sliced[i]) - sizes.back();
  }
  window.offsets = BoxOffsets(AsInts(sizes), AsInts(sliced_strides));
  const Dims batch = DimsWithout(updates.rank(), window_dims, {});
  window.order.assign(batch.begin(), batch.end());
  window.order.insert(window.order.end(), window_dims.begin(), window_dims.end());
  return window;
}

// Appends the operand index of each window element. If any element is out of bounds, appends -1 for all of them.
void AppendIndices(Ints start, const UpdateWindow& window, const Dims& strides, std::vector<int64_t>& indices) {
  int64_t at = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (start[d] < 0 || start[d] > window.max_starts[d]) {
      indices.resize(indices.size() + window.offsets.size(), -1);
      return;
    }
    at += start[d] * strides[d];
  }
  for (int64_t offset : window.offsets) indices.push_back(at + offset);
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kScatter>(Call& call) {
  const Instruction& hlo = call.hlo;
  Reducer reducer(call, *hlo[kToApply]);
  const size_t n = reducer.count();
  IndexVectors vectors(call.array(n),
                       {hlo[kIndexVectorDim], hlo[Scatter::kScatterDimsToOperandDims], hlo[Scatter::kInputBatchingDims],
                        hlo[Scatter::kScatterIndicesBatchingDims]},
                       call.array(0).rank());
  std::vector<Array> updates = OperandsAs(call, n + 1, reducer.types);
  const UpdateWindow window = WindowOf(hlo, call.array(0), updates[0]);
  const Dims strides = RowMajorStrides(call.array(0).dims());
  const auto window_size = static_cast<int64_t>(window.offsets.size());
  for (Array& update : updates) {
    if (update.count() != vectors.count() * window_size)
      return ExecutionError(hlo, StrCat(vectors.count(), " index vectors and windows of ", window_size,
                                        " elements do not match ", update.count(), " updates"));
    if (!std::is_sorted(window.order.begin(), window.order.end())) update = Transposed(update, window.order);
  }
  std::vector<Array> results;
  for (size_t k = 0; k < n; ++k) {
    Array& operand = call.operands[k].array();
    results.push_back(operand.type() == reducer.types[k] ? std::move(operand) : Converted(operand, reducer.types[k]));
  }

  constexpr int64_t kBatchSize = int64_t{1} << 16;  // in elements; bounds the size of the index list
  std::vector<int64_t> indices;
  std::vector<const std::byte*> from(n);
  int64_t done = 0;
  for (int64_t b = 0; b < vectors.count(); ++b) {
    AppendIndices(vectors.Start(b), window, strides, indices);
    const auto pending = static_cast<int64_t>(indices.size());
    if (pending < kBatchSize && b + 1 < vectors.count()) continue;
    for (size_t k = 0; k < n; ++k) from[k] = updates[k].data() + done * updates[k].element_bytes();
    SHOAL_TRY(FoldAtIndices(reducer, results, indices, from));
    done += pending;
    indices.clear();
  }
  return ResultOf(hlo, std::move(results));
}

}  // namespace shoal::internal
