// Reductions by any function of scalars. A kernel applies the function to the elements in order; lanes run along a kept
// dimension. The results are those of the interpreter, so reductions that it splits into stages are excluded.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/loops/kernel_builder.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxFunctionOps = 64;

// True if the op is a scalar that a kernel can compute.
bool IsScalarLoopOp(const Instruction& hlo) {
  if (IsParameter(hlo)) return hlo.shape().IsScalar() && IsLoopType(hlo.shape().element_type());
  if (IsSingleElementConstant(hlo)) return hlo.shape().IsScalar();
  const bool is_simple = IsElementwise(hlo) || hlo.opcode == Opcode::kBitcastConvert;
  return is_simple && hlo.shape().IsScalar() && IsLoopOp(hlo) && !HasComplex(hlo);
}

// The scalar results of a function.
std::vector<const Instruction*> ResultsOf(const Computation& function) {
  if (!IsTuple(*function.root)) return {function.root};
  return {function.root->operands.begin(), function.root->operands.end()};
}

bool IsKernelFunction(const Computation& function) {
  return function.instructions.size() <= kMaxFunctionOps &&
         std::all_of(function.instructions.begin(), function.instructions.end(), [&](const Instruction* hlo) {
           return IsScalarLoopOp(*hlo) || (hlo == function.root && IsTuple(*hlo));
         });
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

constexpr int64_t kMinLanes = 8;

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
  return steps > 1 && steps < kMaxSteps && lanes >= kMinLanes;
}

bool HasKernelWindow(const Instruction& hlo) {
  const Window* window = hlo[kWindow];
  const Shape& result = *LeafShapes(hlo.shape())[0];
  if (window == nullptr || result.rank() == 0 || std::ssize(window->dims) != result.rank()) return false;
  constexpr int64_t kMaxElements = 256;
  int64_t size = 1;
  for (const WindowDim& dim : window->dims) {
    if (dim.base_dilation != 1 || dim.reversal || dim.pad_low < 0 || dim.pad_high < 0) return false;
    if (dim.size > kMaxElements || (size *= dim.size) > kMaxElements) return false;
  }
  return true;
}

}  // namespace

bool IsFunctionReduction(const Instruction& hlo) {
  if (!IsReduce(hlo) && !IsReduceWindow(hlo)) return false;
  if (!hlo[kControlPredecessors].empty() || hlo.operand_count() % 2 != 0 || IsLoopReduction(hlo) || IsLoopWindow(hlo)) return false;
  if (!HasFunctionTypes(hlo) || !IsKernelFunction(*hlo[kToApply])) return false;
  return IsReduce(hlo) ? FoldsInOrder(hlo) : HasKernelWindow(hlo);
}

void KernelBuilder::SetFunction(const Instruction& hlo, KernelReduction& reduction) {
  const Computation& function = *hlo[kToApply];
  reduction.kind = KernelReduction::Kind::kFunction;
  absl::flat_hash_map<const Instruction*, int> numbers;
  for (const Instruction* inside : function.instructions) {
    if (IsTuple(*inside)) continue;
    KernelNode node;
    node.type = inside->shape().element_type();
    if (IsParameter(*inside)) {
      node.kind = KernelNode::Kind::kLoad;
      node.input = static_cast<int>((*inside)[kParameterNumber]);
    } else if (IsConstant(*inside)) {
      node = ConstantNode(*inside);
    } else {
      node = ApplyNodeOf(*inside);
      for (size_t i = 0; i < inside->operand_count(); ++i) node.operands[i] = numbers.at(inside->operands[i]);
    }
    numbers[inside] = static_cast<int>(reduction.function.size());
    reduction.function.push_back(std::move(node));
  }
  for (const Instruction* result : ResultsOf(function)) reduction.results.push_back(numbers.at(result));
}

}  // namespace shoal::internal
