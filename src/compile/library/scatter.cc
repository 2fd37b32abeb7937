// scatter in place: of one operand with a combiner that is a single op (add, multiply, minimum, …) or an assignment, and
// of several operands with any function of scalars, which is compiled.
#include <algorithm>
#include <utility>

#include "compile/library/function_scatter.h"
#include "compile/library/rows.h"
#include "compile/library/starts.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "kernels/algorithms/parallel_scatter.h"
#include "kernels/arrays/index_vectors.h"
#include "kernels/arrays/strided.h"
#include "transform/loops/lane_kernel.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

using Scatter = Op<Opcode::kScatter>;

Combiner CombinerOf(const Computation& computation) {
  if (computation.parameters.size() == 2 && computation.root == computation.parameters[1])
    return HasEffects(computation) ? Combiner::kNone : Combiner::kAssign;
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

// Calls scatter(plan, updates) with the updates of each operand in the order of the plan.
template <class ScatterAll>
void WithPlan(const Instruction& hlo, const Array& array, const Array& indices, std::span<const Array> updates, ThreadPool& pool,
              const ScatterAll& scatter) {
  const Ints dims = array.dims();
  const Windows windows = WindowsOf(hlo, dims, updates[0].dims());
  const SliceStarts starts(indices,
                           {hlo[kIndexVectorDim], hlo[Scatter::kScatterDimsToOperandDims], hlo[Scatter::kInputBatchingDims],
                            hlo[Scatter::kScatterIndicesBatchingDims]},
                           dims, AsInts(windows.max_starts), false);
  const size_t outer = OuterWindowDims(hlo, windows);
  const Array window_starts = starts.FindAll(pool);
  const Ints sizes = AsInts(windows.sizes), strides = AsInts(windows.strides);
  const Runs runs = RunsOf(sizes.subspan(outer), strides.subspan(outer));
  const std::vector<int64_t> offsets = BoxOffsets(sizes.first(outer), strides.first(outer));
  std::vector<Array> in_order;
  for (const Array& update : updates) in_order.push_back(UpdatesInOrder(hlo, update, outer));
  scatter({window_starts.As<int64_t>(), offsets, runs.offsets, runs.length, array.count(), windows.windows_disjoint}, in_order);
}

// The indices, if they are offsets of single elements of a vector; else empty.
std::span<const int32_t> ElementIndices(const Instruction& hlo, const Array& array, const Array& indices, const Array& updates) {
  const Windows windows = WindowsOf(hlo, array.dims(), updates.dims());
  if (!windows.sizes.empty() || array.rank() != 1) return {};
  return SliceStarts(indices,
                     {hlo[kIndexVectorDim], hlo[Scatter::kScatterDimsToOperandDims], hlo[Scatter::kInputBatchingDims],
                      hlo[Scatter::kScatterIndicesBatchingDims]},
                     array.dims(), AsInts(windows.max_starts), false).PlainIndices();
}

// The result already holds the elements of the operand.
Status ScatterByOp(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Combiner combiner = CombinerOf(*hlo[kToApply]);
  Array& array = results[0];
  if (const auto indices = ElementIndices(hlo, array, operands[1], operands[2]); !indices.empty()) {
    ScatterElementsAt(combiner, array.type(), indices, array.count(), operands[2].data(), array.mutable_data(), pool);
    return {};
  }
  WithPlan(hlo, array, operands[1], operands.subspan(2), pool, [&](const ScatterPlan& plan, std::span<const Array> updates) {
    ScatterUpdates(combiner, array.type(), plan, updates[0].data(), array.mutable_data(), pool);
  });
  return {};
}

// The results already hold the elements of the operands.
Status ScatterAll(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, KernelCode function,
                  ThreadPool& pool) {
  const size_t n = results.size();
  WithPlan(hlo, results[0], operands[n], operands.subspan(n + 1), pool, [&](const ScatterPlan& plan, std::span<const Array> updates) {
    ScatterByFunction(plan, updates, results, function, pool);
  });
  return {};
}

// True if operand, update, both parameters and the result number k have one type.
bool HasOneType(const Instruction& hlo, size_t k, size_t n) {
  const Computation& function = *hlo[kToApply];
  const ElementType type = hlo.operand_shape(k).element_type();
  const Instruction& result = n == 1 ? *function.root : *function.root->operands[k];
  const Shape& update = hlo.operand_shape(n + 1 + k);
  for (const Shape* shape : {&hlo.operand_shape(k), &update, LeafShapes(hlo.shape())[k]})
    if (!shape->IsArray() || shape->has_dynamic() || shape->element_type() != type || shape->ElementCount().value_or(0) <= 0)
      return false;
  for (const Instruction* scalar : {static_cast<const Instruction*>(function.parameters[k]), static_cast<const Instruction*>(function.parameters[n + k]), &result})
    if (scalar->shape().element_type() != type) return false;
  return true;
}

// True if elements of the operands can be combined with elements of the updates.
bool HasOneTypeEach(const Instruction& hlo) {
  const size_t n = hlo.operand_count() / 2;
  const Computation& function = *hlo[kToApply];
  if (hlo.operand_count() % 2 == 0 || function.parameters.size() != 2 * n || LeafShapes(hlo.shape()).size() != n) return false;
  if ((n > 1) != IsTuple(*function.root) || (n > 1 && function.root->operand_count() != n)) return false;
  const Shape& indices = hlo.operand_shape(n);
  if (indices.has_dynamic() || !IsInteger(indices.element_type()) || BitWidth(indices.element_type()) < 8) return false;
  for (size_t k = 0; k < n; ++k)
    if (!HasOneType(hlo, k, n)) return false;
  return true;
}

}  // namespace

LibraryFunction ScatterFunction(const Instruction& hlo) {
  if (hlo.operand_count() != 3 || !hlo.shape().IsArray() || !HasOneTypeEach(hlo)) return nullptr;
  return SupportsScatter(CombinerOf(*hlo[kToApply]), hlo.shape().element_type()) ? &ScatterByOp : nullptr;
}

AppliedLibraryFunction FunctionScatterFunction(const Instruction& hlo) {
  return HasOneTypeEach(hlo) && IsLaneFunction(*hlo[kToApply]) ? &ScatterAll : nullptr;
}

}  // namespace shoal::internal
