#include "interp/plan.h"

#include <algorithm>
#include <cstring>

#include "ops/backend_config.h"
#include "interp/declared_shape.h"
#include "interp/elementwise/elementwise.h"
#include "ops/traits.h"

namespace shoal {
namespace {

// Marks, going backwards, the last use of every value, and the last get-tuple-element of each element.
void MarkLastUses(const Computation& computation, std::vector<Step>& steps) {
  std::vector<bool> used(computation.instructions.size(), false);
  // Of a tuple: later somebody needs all of it, or which elements they take.
  std::vector<bool> used_whole(computation.instructions.size(), false);
  std::vector<std::vector<int64_t>> taken(computation.instructions.size());
  used[computation.root->index] = used_whole[computation.root->index] = true;
  for (size_t s = steps.size(); s-- > 0;) {
    Step& step = steps[s];
    const Instruction& hlo = *step.hlo;
    step.last_use.assign(hlo.operand_count(), false);
    for (size_t i = hlo.operand_count(); i-- > 0;) {
      const uint32_t operand = hlo.operands[i]->index;
      step.last_use[i] = !used[operand];
      used[operand] = true;
      if (!IsGetTupleElement(hlo)) {
        used_whole[operand] = true;
        continue;
      }
      const int64_t element = ElementIndexOf(hlo);
      std::vector<int64_t>& later = taken[operand];
      step.takes_element = !used_whole[operand] && std::find(later.begin(), later.end(), element) == later.end();
      later.push_back(element);
    }
  }
}

// Nobody asks for what a dropped step gives: XLA would not run it either, whatever it is.
void DropDeadSteps(const Computation& computation, std::vector<Step>& steps) {
  std::vector<bool> needed(computation.instructions.size(), false);
  needed[computation.root->index] = true;
  for (size_t s = steps.size(); s-- > 0;) {
    const Instruction& hlo = *steps[s].hlo;
    needed[hlo.index] = needed[hlo.index] || !IsPure(hlo);
    if (!needed[hlo.index]) continue;
    for (const Instruction* operand : hlo.operands) needed[operand->index] = true;
  }
  std::erase_if(steps, [&](const Step& step) { return !needed[step.hlo->index]; });
}

// Numbers for a literal the dump left out: small, and a function of their place alone.
Array Filled(const Shape& shape) {
  Array numbers(ElementType::kF32, shape.dims());
  std::span<float> out = numbers.Mutable<float>();
  const bool is_float = IsFloat(shape.element_type()) || IsComplex(shape.element_type());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto mixed = static_cast<uint32_t>((i + 1) * 2654435769u) >> 16;
    out[i] = is_float ? static_cast<float>(mixed) * 0x1p-16f - 0.5f : static_cast<float>(mixed & 1u);
  }
  return Converted(numbers, shape.element_type());
}

// A shape with other element types, leaf by leaf.
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

// The computations that loops run, also by way of others.
std::unordered_set<const Computation*> RunByLoops(const Module& module) {
  std::unordered_set<const Computation*> found;
  std::vector<const Computation*> todo;
  auto add_callees = [&](const Instruction& hlo) {
    for (const Computation* callee : CalledComputations(hlo))
      if (found.insert(callee).second) todo.push_back(callee);
  };
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsLoop(*hlo)) add_callees(*hlo);
  while (!todo.empty()) {
    const Computation* computation = todo.back();
    todo.pop_back();
    for (const Instruction* hlo : computation->instructions) add_callees(*hlo);
  }
  return found;
}

}  // namespace

Plans::Plans(const Module& module) : module_(module) {
  for (const Computation* computation : PostOrder(module)) {  // callees first: what is known of them is used
    Add(*computation);
    AddStarts(*computation);
  }
  for (const Computation* computation : RunByLoops(module)) MarkInvariants(*plans_.at(computation));
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsFusion(*hlo)) AddFusion(*hlo);
}

void Plans::Add(const Computation& computation) {
  auto plan = std::make_unique<Plan>();
  plan->computation = &computation;
  plan->constants.resize(computation.instructions.size());
  for (const Instruction* hlo : computation.instructions) {
    Step step;
    step.hlo = hlo;
    step.evaluate = EvaluatorOf(hlo->opcode);
    step.typed = Typed(*hlo);
    step.takes_under_way = MayTakeUnderWay(*hlo);
    if (Info(hlo->opcode).op_class == OpClass::kElementwise)
      step.kernel = KernelOf(step.typed != nullptr ? step.typed->hlo : *hlo);
    plan->steps.push_back(std::move(step));
    const Literal* literal = (*hlo)[kConstantValue];
    if (literal != nullptr) plan->constants[hlo->index] = Constant(*hlo, *literal);
  }
  DropDeadSteps(computation, plan->steps);
  MarkLastUses(computation, plan->steps);
  plan->lanes = LaneFunction::Of(computation);
  plan->is_function = std::all_of(
      computation.instructions.begin(), computation.instructions.end(),
      [this](const Instruction* hlo) { return IsParameter(*hlo) || IsFunction(*hlo); });
  plans_[&computation] = std::move(plan);
}

std::unique_ptr<TypedInstruction> Plans::Typed(const Instruction& hlo) {
  WorkingTypes types = WorkingTypesOf(hlo);
  if (!types.mixed) return nullptr;
  if (mixed_.count++ == 0) mixed_.first = &hlo;
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

void Plans::AddStarts(const Computation& computation) {
  auto ends_start = [](const Instruction& hlo) { return IsAsyncDone(hlo) && (IsCollective(hlo) || IsAsyncChain(hlo)); };
  std::vector<int64_t> users(computation.instructions.size(), 0);
  users[computation.root->index] = 1;
  for (const Instruction* hlo : computation.instructions)
    for (const Instruction* operand : hlo->operands) ++users[operand->index];
  for (const Instruction* hlo : computation.instructions)
    if (ends_start(*hlo) && hlo->operand_count() == 1 && users[hlo->operands[0]->index] == 1)
      only_ended_.insert(hlo->operands[0]);
}

void Plans::AddFusion(const Instruction& hlo) {
  Plan& plan = *plans_.at(hlo[kCalls]);
  plan.is_fused = true;
  plan.is_loop_fusion = hlo.shape().IsArray() && FusionKindOf(hlo) == FusionKind::kLoop;
  const BackendConfig fusion = BackendConfig::Of(hlo).Object("fusion_config");
  uses_ynnpack_ = uses_ynnpack_ || fusion.Text("kind") == "__ynn_fusion";
}

bool Plans::IsFunction(const Instruction& hlo) const {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kControlFlow) {
    const std::vector<Computation*> callees = CalledComputations(hlo);
    return std::all_of(callees.begin(), callees.end(),
                       [this](const Computation* callee) { return IsFunction(*callee); });
  }
  return IsPure(hlo) && op_class != OpClass::kOpaque;
}

// A loop need not work out again what no parameter reaches. Large values are not kept: memory is dearer than time.
void Plans::MarkInvariants(Plan& plan) {
  constexpr int64_t kMostElements = 1 << 18;
  std::vector<bool> invariant(plan.computation->instructions.size(), false);
  std::vector<Step*> steps(invariant.size(), nullptr);
  bool any = false;
  for (Step& step : plan.steps) {
    const Instruction& hlo = *step.hlo;
    steps[hlo.index] = &step;
    auto is_invariant = [&](const Instruction* operand) { return invariant[operand->index]; };
    invariant[hlo.index] = IsFunction(hlo) && std::all_of(hlo.operands.begin(), hlo.operands.end(), is_invariant);
    if (IsConstant(hlo)) continue;
    step.is_invariant = invariant[hlo.index];
    if (step.is_invariant) continue;
    for (const Instruction* operand : hlo.operands) {
      Step* used = steps[operand->index];
      if (used == nullptr || !used->is_invariant) continue;
      used->is_kept = any = true;
    }
  }
  if (Step* root = steps[plan.computation->root->index]; root != nullptr && root->is_invariant)
    root->is_kept = any = true;
  for (const Step& step : plan.steps) {
    const bool small =
        step.hlo->shape().IsArray() && step.hlo->shape().ElementCount().value_or(INT64_MAX) <= kMostElements;
    any = any && (small || !step.is_kept);
  }
  if (any) plan.invariants = std::make_unique<InvariantValues>();
}

Value Plans::Constant(const Instruction& hlo, const Literal& literal) {
  if (literal.elided) {
    if (elided_.count++ == 0) elided_.first = &hlo;
    return Filled(*literal.shape);
  }
  if (literal.shape->IsArray()) return Array::FromLiteral(literal);
  if (!literal.shape->IsTuple()) return {};
  std::vector<Value> elements;
  for (const Literal* element : literal.elements) elements.push_back(Constant(hlo, *element));
  return Value::Tuple(std::move(elements));
}

}  // namespace shoal
