#include "transform/loops/lane_kernel.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/loops/kernel_builder.h"
#include "transform/loops/kernel_nodes.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxFunctionOps = 64;

bool IsLaneOp(const Instruction& hlo) {
  if (!hlo.shape().IsScalar()) return false;
  if (IsParameter(hlo)) return IsLoopOrComplexType(hlo.shape().element_type());
  return IsSingleElementConstant(hlo) || ((IsElementwise(hlo) || hlo.opcode == Opcode::kBitcastConvert) && IsLoopOp(hlo));
}

}  // namespace

bool IsLaneFunction(const Computation& function) {
  return function.instructions.size() <= kMaxFunctionOps &&
         std::all_of(function.instructions.begin(), function.instructions.end(), [&](const Instruction* hlo) {
           return IsLaneOp(*hlo) || (hlo == function.root && IsTuple(*hlo));
         });
}

FunctionNodes NodesOf(const Computation& function) {
  FunctionNodes found;
  absl::flat_hash_map<const Instruction*, int> numbers;
  for (const Instruction* hlo : function.instructions) {
    if (IsTuple(*hlo)) continue;
    KernelNode node;
    if (IsParameter(*hlo)) {
      node = LoadOf(static_cast<int>((*hlo)[kParameterNumber]), hlo->shape().element_type(), {});
    } else if (IsConstant(*hlo)) {
      node = KernelBuilder::ConstantNode(*hlo);
    } else {
      node = KernelBuilder::ApplyNodeOf(*hlo);
      for (size_t i = 0; i < hlo->operand_count(); ++i) node.operands[i] = numbers.at(hlo->operands[i]);
    }
    numbers[hlo] = static_cast<int>(found.nodes.size());
    found.nodes.push_back(std::move(node));
  }
  if (!IsTuple(*function.root)) {
    found.results.push_back(numbers.at(function.root));
    return found;
  }
  for (const Instruction* result : function.root->operands) found.results.push_back(numbers.at(result));
  return found;
}

std::vector<int> AddFunction(FusedKernel& kernel, const Computation& function, const std::vector<int>& arguments) {
  FunctionNodes added = NodesOf(function);
  std::vector<int> numbers;
  for (KernelNode& node : added.nodes) {
    if (node.kind == KernelNode::Kind::kLoad) {
      numbers.push_back(arguments[static_cast<size_t>(node.input)]);
      continue;
    }
    for (int& operand : node.operands)
      if (operand >= 0) operand = numbers[static_cast<size_t>(operand)];
    numbers.push_back(Add(kernel, std::move(node)));
  }
  for (int& result : added.results) result = numbers[static_cast<size_t>(result)];
  return added.results;
}

FusedKernel LaneKernelOf(const Computation& function) {
  FusedKernel kernel;
  kernel.rows = {kLaneRows};
  kernel.inner_loops = {kLaneRow};
  const IndexExpr lane = IndexExpr::Loop(0, kLaneRows) * kLaneRow + IndexExpr::Loop(1, kLaneRow);
  std::vector<int> parameters;
  for (const Instruction* parameter : function.parameters) {
    const ElementType type = parameter->shape().element_type();
    parameters.push_back(Add(kernel, LoadOf(static_cast<int>(parameters.size()), type, lane)));
    kernel.inputs.push_back(type);
  }
  for (int result : AddFunction(kernel, function, parameters)) {
    kernel.stores.push_back({result, static_cast<int>(kernel.outputs.size()), lane, false});
    kernel.outputs.push_back(kernel.nodes[static_cast<size_t>(result)].type);
  }
  return kernel;
}

}  // namespace shoal::internal
