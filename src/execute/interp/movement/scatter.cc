// scatter.
#include <algorithm>

#include "kernels/arrays/index_vectors.h"
#include "execute/interp/movement/scatter_updates.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

using Scatter = Op<Opcode::kScatter>;

// One window of updates as it lies in the operand.
struct UpdateWindow {
  Dims starts_to;                // the largest start in each dimension of the operand
  std::vector<int64_t> offsets;  // of each of its elements from its start
  std::vector<int64_t> order;    // dimensions of the updates, those of the window last
};

UpdateWindow WindowOf(const Instruction& hlo, const Array& operand, const Array& updates) {
  Ints window_dims = hlo[Scatter::kUpdateWindowDims];
  const Dims strides = RowMajorStrides(operand.dims());
  const Dims kept = DimsWithout(operand.rank(), hlo[Scatter::kInsertedWindowDims], hlo[Scatter::kInputBatchingDims]);
  UpdateWindow window;
  for (int64_t d = 0; d < operand.rank(); ++d) window.starts_to.push_back(operand.dim(d) - 1);
  Dims sizes, kept_strides;
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto d = static_cast<size_t>(kept[i]);
    sizes.push_back(updates.dim(window_dims[i]));
    kept_strides.push_back(strides[d]);
    window.starts_to[d] = operand.dim(kept[i]) - sizes.back();
  }
  window.offsets = BoxOffsets(AsInts(sizes), AsInts(kept_strides));
  const Dims batch = DimsWithout(updates.rank(), window_dims, {});
  window.order.assign(batch.begin(), batch.end());
  window.order.insert(window.order.end(), window_dims.begin(), window_dims.end());
  return window;
}

// The places of one window's elements; -1 for all of them if any lies outside.
void AppendPlaces(Ints start, const UpdateWindow& window, const Dims& strides, std::vector<int64_t>& places) {
  int64_t at = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (start[d] < 0 || start[d] > window.starts_to[d]) {
      places.resize(places.size() + window.offsets.size(), -1);
      return;
    }
    at += start[d] * strides[d];
  }
  for (int64_t offset : window.offsets) places.push_back(at + offset);
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
      return ExecutionError(hlo, StrCat("has ", vectors.count(), " index vectors and windows of ", window_size, ", but ",
                                 update.count(), " updates"));
    if (!std::is_sorted(window.order.begin(), window.order.end())) update = Transposed(update, window.order);
  }
  std::vector<Array> results;
  for (size_t k = 0; k < n; ++k) {
    Array& operand = call.operands[k].array();
    results.push_back(operand.type() == reducer.types[k] ? std::move(operand) : Converted(operand, reducer.types[k]));
  }

  constexpr int64_t kAtATime = int64_t{1} << 16;  // elements, so that the list of places stays small
  std::vector<int64_t> places;
  std::vector<const std::byte*> from(n);
  int64_t done = 0;
  for (int64_t b = 0; b < vectors.count(); ++b) {
    AppendPlaces(vectors.Start(b), window, strides, places);
    const auto pending = static_cast<int64_t>(places.size());
    if (pending < kAtATime && b + 1 < vectors.count()) continue;
    for (size_t k = 0; k < n; ++k) from[k] = updates[k].data() + done * updates[k].element_bytes();
    SHOAL_TRY(FoldAt(reducer, results, places, from));
    done += pending;
    places.clear();
  }
  return ResultOf(hlo, std::move(results));
}

}  // namespace shoal::internal
