#include "execute/interp/plan.h"

#include <algorithm>

#include "core/ir/call_graph.h"
#include "core/ops/element_work.h"
#include "core/ops/traits.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/elementwise/generated_constant.h"

namespace shoal::internal {
namespace {

// True for a fusion that communicates: most of its time is spent waiting for other devices.
bool ContainsCollective(const Instruction& hlo) {
  const Computation* fused = IsFusion(hlo) ? hlo[kCalls] : nullptr;
  return fused != nullptr && std::any_of(fused->instructions.begin(), fused->instructions.end(),
                                         [](const Instruction* inside) { return StartsCollective(*inside); });
}

// A copy of the shape in which `types` replace the element types of the leaves.
const Shape* WithTypes(const Shape& shape, std::span<const ElementType> types, size_t& next, ShapePool& shapes) {
  if (!shape.IsTuple()) {
    const ElementType type = types[next++];
    const Shape* own = shapes.Import(shape);
    return shape.IsArray() ? shapes.WithType(*own, type) : own;
  }
  std::vector<const Shape*> elements;
  for (const Shape* element : shape.elements()) elements.push_back(WithTypes(*element, types, next, shapes));
  return shapes.Tuple(elements);
}

}  // namespace

ModulePlan::ModulePlan(std::shared_ptr<const Module> module, Thunks thunks)
    : module_(std::move(module)), liveness_(*module_) {
  for (const Computation* computation : CalleesFirst(*module_)) Add(*computation, thunks);
  for (const Computation* computation : module_->computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsFusion(*hlo)) AddFusion(*hlo);
}

void ModulePlan::Add(const Computation& computation, Thunks& thunks) {
  auto plan = std::make_unique<ComputationPlan>();
  const ComputationLiveness& live = liveness_.Of(computation);
  for (const InstructionLiveness& each : live.steps) {
    const Instruction& hlo = *each.hlo;
    EvalStep step{each};
    step.evaluate = EvaluatorOf(hlo.opcode);
    if (IsCustomCall(hlo)) {
      if (const CustomCallRow* row = FindCustomCall(TargetOf(hlo))) step.evaluate = row->evaluate;
      step.config = std::make_unique<const BackendConfig>(BackendConfig::Of(hlo));
    }
    if (const auto thunk = thunks.find(&hlo); thunk != thunks.end()) step.thunk = std::move(thunk->second);
    step.typed = step.thunk == nullptr ? MakeTyped(hlo) : nullptr;
    step.accepts_pending = AcceptsPending(hlo);
    step.is_fallback = step.thunk == nullptr && HasElementWork(hlo) && !ContainsCollective(hlo);
    if (Info(hlo.opcode).op_class == OpClass::kElementwise)
      step.kernel = ElementLoopFor(step.typed != nullptr ? step.typed->hlo : hlo);
    plan->steps.push_back(std::move(step));
  }
  plan->constants.resize(computation.instructions.size());
  for (const Instruction* hlo : computation.instructions)
    if (const Literal* literal = (*hlo)[kConstantValue]) plan->constants[hlo->index] = Constant(*literal);
  plan->lanes = LaneFunction::Of(computation);
  if (live.keeps_invariants) plan->invariants = std::make_unique<InvariantValues>();
  plans_[&computation] = std::move(plan);
}

std::unique_ptr<TypedInstruction> ModulePlan::MakeTyped(const Instruction& hlo) {
  WorkingTypes types = WorkingTypesOf(hlo);
  if (!types.mixed) return nullptr;
  auto typed = std::make_unique<TypedInstruction>();
  typed->hlo = hlo;
  size_t next = 0;
  typed->hlo.shape_ = WithTypes(hlo.shape(), types.results, next, shapes_);
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    next = 0;
    const Shape& shape = hlo.operand_shape(i);
    typed->operands.push_back(*hlo.operands[i]);
    if (shape.IsArray()) typed->operands.back().shape_ = WithTypes(shape, {&types.operands[i], 1}, next, shapes_);
  }
  for (Instruction& operand : typed->operands) typed->operand_list.push_back(&operand);
  typed->hlo.operands = typed->operand_list;
  typed->types = std::move(types);
  return typed;
}

void ModulePlan::AddFusion(const Instruction& hlo) {
  ComputationPlan& plan = *plans_.at(hlo[kCalls]);
  plan.is_fused = true;
  plan.is_loop_fusion = hlo.shape().IsArray() && FusionKindOf(hlo) == FusionKind::kLoop;
}

Value ModulePlan::Constant(const Literal& literal) const {
  if (literal.elided) return GeneratedConstant(*literal.shape);
  if (literal.shape->IsArray()) return Array::FromLiteral(literal, module_);
  if (!literal.shape->IsTuple()) return {};
  std::vector<Value> elements;
  for (const Literal* element : literal.elements) elements.push_back(Constant(*element));
  return Value::Tuple(std::move(elements));
}

}  // namespace shoal::internal
