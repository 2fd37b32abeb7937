// scatter of one operand in place, with a combiner that is a single op (add, multiply, minimum, …) or an assignment.
#include <algorithm>
#include <utility>

#include "compile/library/rows.h"
#include "compile/library/starts.h"
#include "core/ops/families.h"
#include "kernels/algorithms/parallel_scatter.h"
#include "kernels/arrays/index_vectors.h"
#include "kernels/arrays/strided.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

using Scatter = Op<Opcode::kScatter>;

Combiner CombinerOf(const Computation& computation) {
  if (computation.parameters.size() == 2 && computation.root == computation.parameters[1]) return Combiner::kAssign;
  const Instruction* op = OnlyOpOf(computation);
  if (op == nullptr) return Combiner::kNone;
  static constexpr std::pair<Opcode, Combiner> kCombiners[] = {
      {Opcode::kAdd, Combiner::kAdd},         {Opcode::kMultiply, Combiner::kMultiply}, {Opcode::kMinimum, Combiner::kMinimum},
      {Opcode::kMaximum, Combiner::kMaximum}, {Opcode::kAnd, Combiner::kAnd},           {Opcode::kOr, Combiner::kOr}};
  for (const auto& [opcode, combiner] : kCombiners)
    if (opcode == op->opcode) return combiner;
  return Combiner::kNone;
}

// The update windows in the array.
struct Windows {
  Dims sizes, strides, max_starts;  // for kept window dimensions; max_starts: for each array dimension
  bool windows_disjoint = true;     // any two windows are equal or have no common element
};

Windows WindowsOf(const Instruction& hlo, Ints dims, Ints updates) {
  const Dims strides = RowMajorStrides(dims);
  Windows windows;
  for (int64_t size : dims) windows.max_starts.push_back(size - 1);
  const Dims kept = DimsWithout(static_cast<int>(dims.size()), hlo[Scatter::kInsertedWindowDims], hlo[Scatter::kInputBatchingDims]);
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto d = static_cast<size_t>(kept[i]);
    windows.sizes.push_back(updates[static_cast<size_t>(hlo[Scatter::kUpdateWindowDims][i])]);
    windows.strides.push_back(strides[d]);
    windows.max_starts[d] = dims[d] - windows.sizes.back();
    windows.windows_disjoint &= windows.sizes.back() == 1 || windows.max_starts[d] == 0;
  }
  return windows;
}

// Number of window dimensions that precede all other dimensions of the updates. If windows are disjoint, each of their
// indices is a separate scatter, so these dimensions need not be moved behind the batch dimensions.
size_t OuterWindowDims(const Instruction& hlo, const Windows& windows) {
  size_t outer = 0;
  while (windows.windows_disjoint && outer < hlo[Scatter::kUpdateWindowDims].size() &&
         hlo[Scatter::kUpdateWindowDims][outer] == static_cast<int64_t>(outer))
    ++outer;
  return outer;
}

// The updates in the order: outer window dimensions, batch dimensions, other window dimensions.
Array UpdatesInOrder(const Instruction& hlo, const Array& updates, size_t outer) {
  const Ints window_dims = hlo[Scatter::kUpdateWindowDims];
  Dims order(window_dims.begin(), window_dims.begin() + static_cast<int64_t>(outer));
  for (int64_t d : DimsWithout(updates.rank(), window_dims, {})) order.push_back(d);
  order.insert(order.end(), window_dims.begin() + static_cast<int64_t>(outer), window_dims.end());
  return std::is_sorted(order.begin(), order.end()) ? updates : Transposed(updates, AsInts(order));
}

// The result already holds the elements of the operand.
Status ScatterAll(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results,
                      ThreadPool& pool) {
  const Ints dims = results[0].dims();
  const Windows windows = WindowsOf(hlo, dims, operands[2].dims());
  const size_t outer = OuterWindowDims(hlo, windows);
  const SliceStarts starts(operands[1],
                      {hlo[kIndexVectorDim], hlo[Scatter::kScatterDimsToOperandDims], hlo[Scatter::kInputBatchingDims],
                       hlo[Scatter::kScatterIndicesBatchingDims]},
                      dims, AsInts(windows.max_starts), false);
  const Combiner combiner = CombinerOf(*hlo[kToApply]);
  if (windows.sizes.empty() && dims.size() == 1 && !starts.PlainIndices().empty()) {
    ScatterElementsAt(combiner, results[0].type(), starts.PlainIndices(), results[0].count(), operands[2].data(), results[0].mutable_data(), pool);
    return {};
  }
  const Array window_starts = starts.FindAll(pool);
  const Ints sizes = AsInts(windows.sizes), strides = AsInts(windows.strides);
  const Runs runs = RunsOf(sizes.subspan(outer), strides.subspan(outer));
  const std::vector<int64_t> offsets = BoxOffsets(sizes.first(outer), strides.first(outer));
  const Array updates = UpdatesInOrder(hlo, operands[2], outer);
  ScatterUpdates(combiner, results[0].type(),
              {window_starts.As<int64_t>(), offsets, runs.offsets, runs.length, results[0].count(), windows.windows_disjoint}, updates.data(),
              results[0].mutable_data(), pool);
  return {};
}

}  // namespace

LibraryFunction ScatterFunction(const Instruction& hlo) {
  if (hlo.operand_count() != 3 || !hlo.shape().IsArray()) return nullptr;
  const ElementType type = hlo.shape().element_type(), indices = hlo.operand_shape(1).element_type();
  const Computation& function = *hlo[kToApply];
  for (const Shape* shape : {&hlo.operand_shape(0), &hlo.operand_shape(2), &function.root->shape()})
    if (shape->has_dynamic() || shape->element_type() != type) return nullptr;
  for (const Instruction* parameter : function.parameters)
    if (parameter->shape().element_type() != type) return nullptr;
  if (hlo.operand_shape(1).has_dynamic() || !IsInteger(indices) || BitWidth(indices) < 8) return nullptr;
  for (const Shape* shape : {&hlo.shape(), &hlo.operand_shape(2)})
    if (shape->ElementCount().value_or(0) <= 0) return nullptr;
  return SupportsScatter(CombinerOf(function), type) ? &ScatterAll : nullptr;
}

}  // namespace shoal::internal
