#include "interp/plan.h"

#include <algorithm>
#include <cstring>

#include "interp/elementwise.h"
#include "ops/control_flow.h"

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
      if (hlo.opcode != Opcode::kGetTupleElement) {
        used_whole[operand] = true;
        continue;
      }
      const int64_t element = hlo[Op<Opcode::kGetTupleElement>::kIndex];
      std::vector<int64_t>& later = taken[operand];
      step.takes_element = !used_whole[operand] && std::find(later.begin(), later.end(), element) == later.end();
      later.push_back(element);
    }
  }
}

// Whether an instruction does nothing but give its value.
bool IsPure(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kOpaque) return !hlo[Op<Opcode::kCustomCall>::kHasSideEffect];
  return op_class != OpClass::kRandom && op_class != OpClass::kControlFlow && op_class != OpClass::kCollective &&
         op_class != OpClass::kTransfer && hlo.opcode != Opcode::kParameter;
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

}  // namespace

Plans::Plans(const Module& module) : module_(module) {
  for (const Computation* computation : module.computations) Add(*computation);
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (hlo->opcode == Opcode::kFusion && hlo->shape().IsArray() &&
          (*hlo)[Op<Opcode::kFusion>::kKind] == FusionKind::kLoop)
        plans_.at((*hlo)[kCalls])->is_fusion = true;
}

void Plans::Add(const Computation& computation) {
  auto plan = std::make_unique<Plan>();
  plan->computation = &computation;
  plan->constants.resize(computation.instructions.size());
  for (const Instruction* hlo : computation.instructions) {
    plan->steps.push_back({hlo, EvaluatorOf(hlo->opcode), {}, false});
    const Literal* literal = (*hlo)[kConstantValue];
    if (literal != nullptr) plan->constants[hlo->index] = Constant(*hlo, *literal);
  }
  DropDeadSteps(computation, plan->steps);
  MarkLastUses(computation, plan->steps);
  plan->lanes = LaneFunction::Of(computation);
  plans_[&computation] = std::move(plan);
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
