// Reductions by any function of scalars. A kernel applies the function to the elements in order; lanes run along a kept
// dimension. The results are those of the interpreter, so reductions that it splits into stages are excluded.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/loops/kernel_builder.h"
#include "transform/loops/lane_kernel.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

// The scalar results of a function.
std::vector<const Instruction*> ResultsOf(const Computation& function) {
  if (!IsTuple(*function.root)) return {function.root};
  return {function.root->operands.begin(), function.root->operands.end()};
}

bool IsRealFunction(const Computation& function) {
  return IsLaneFunction(function) && std::none_of(function.instructions.begin(), function.instructions.end(),
                                                  [](const Instruction* hlo) { return HasComplex(*hlo); });
}

// True if operands, initial values, parameters and results have the same types.
bool HasFunctionTypes(const Instruction& hlo) {
  const Computation& function = *hlo[kToApply];
  const size_t n = hlo.operand_count() / 2;
  const std::vector<const Instruction*> results = ResultsOf(function);
  if (function.parameters.size() != 2 * n || results.size() != n) return false;
  const auto shapes = LeafShapes(hlo.shape());
  if (shapes.size() != n) return false;
  for (size_t i = 0; i < n; ++i) {
    const ElementType type = hlo.operand_shape(i).element_type();
    for (const Shape* shape : {&hlo.operand_shape(i), &hlo.operand_shape(n + i), shapes[i]})
      if (!shape->IsArray() || shape->has_dynamic() || shape->element_type() != type || shape->ElementCount().value_or(0) <= 0)
        return false;
    for (const Instruction* inside : {static_cast<const Instruction*>(function.parameters[i]), static_cast<const Instruction*>(function.parameters[n + i]), results[i]})
      if (inside->shape().element_type() != type) return false;
    // The sums of one narrow operand may be wider than its type.
    if (n == 1 && IsFloat(type) && BitWidth(type) < 32) return false;
  }
  return true;
}

// The interpreter folds a long dimension of a single operand in stages, and very many elements in segments.
bool FoldsInOrder(const Instruction& hlo) {
  constexpr int64_t kMaxStage = 32, kMaxSteps = int64_t{1} << 16;
  const Ints reduced = hlo[kDimensions];
  const Shape& operand = hlo.operand_shape(0);
  int64_t steps = 1, lanes = 1;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    if (is_reduced && hlo.operand_count() == 2 && operand.dim(d) > kMaxStage) return false;
    if (is_reduced)
      steps *= operand.dim(d);
    else if (operand.dim(d) > 1)
      lanes = operand.dim(d);
  }
  return steps > 1 && steps < kMaxSteps && lanes > 1;
}

bool HasKernelWindow(const Instruction& hlo) {
  const Window* window = hlo[kWindow];
  const Shape& result = *LeafShapes(hlo.shape())[0];
  return window != nullptr && result.rank() != 0 && std::ssize(window->dims) == result.rank() && IsEfficientWindow(*window, result);
}

}  // namespace

bool IsFunctionReduction(const Instruction& hlo) {
  if (!IsReduce(hlo) && !IsReduceWindow(hlo)) return false;
  if (!hlo[kControlPredecessors].empty() || hlo.operand_count() % 2 != 0 || IsLoopReduction(hlo) || IsLoopWindow(hlo)) return false;
  if (!HasFunctionTypes(hlo) || !IsRealFunction(*hlo[kToApply])) return false;
  return IsReduce(hlo) ? FoldsInOrder(hlo) : HasKernelWindow(hlo);
}

void KernelBuilder::SetFunction(const Instruction& hlo, KernelReduction& reduction) {
  reduction.kind = KernelReduction::Kind::kFunction;
  FunctionNodes function = NodesOf(*hlo[kToApply]);
  reduction.function = std::move(function.nodes);
  reduction.results = std::move(function.results);
}

}  // namespace shoal::internal
