#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/data_movement.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"
#include "transform/passes/widened_values.h"

namespace shoal::internal {
namespace {

class Narrower {
 public:
  Narrower(Module& module, ElementType narrow)
      : module_(module), narrow_(narrow), loops_(module), widened_(FindWidenedValues(module, narrow)) {}

  bool Run() {
    if (widened_.empty()) return false;
    const std::vector<Computation*> computations = module_.computations;
    for (Computation* computation : computations) Rewrite(*computation);
    for (Instruction* loop : loops_.all()) RetypeLoop(*loop);
    return true;
  }

 private:
  bool IsWidened(const Instruction& hlo) const { return widened_.values.contains(&hlo); }

  const Shape* NarrowShape(const Shape& shape) {
    if (shape.IsArray()) return module_.shapes.WithType(shape, narrow_);
    std::vector<const Shape*> elements;
    for (const Shape* element : shape.elements()) elements.push_back(NarrowShape(*element));
    return module_.shapes.Tuple(elements);
  }

  // `value` in the type of `shape`, with a conversion if needed.
  Instruction* Converted(Instruction* value, ElementType type) {
    if (value->shape().element_type() == type) return value;
    if (IsConvert(*value) && value->operand_shape(0).element_type() == type) return value->operands[0];
    auto [found, inserted] = converted_.try_emplace({value, type});
    if (inserted)
      found->second = NewInstruction(module_, *value->parent, Opcode::kConvert, module_.shapes.WithType(value->shape(), type),
                                     std::vector{value}, *value);
    return found->second;
  }

  // Operands that take the type of the result: the moved, summed or multiplied values. An index or a predicate does not.
  bool TakesNarrow(const Instruction& user, size_t i) const {
    if (widened_.contractions.contains(&user)) return true;
    if (IsTuple(user)) {
      Instruction* loop = loops_.LoopOf(user);
      return loop != nullptr && widened_.loop_elements.contains({loop, i});
    }
    if (!IsWidened(user)) return false;
    if (ReducesOverDevices(user)) return true;
    const auto moved = MovedOperands(user);
    return std::any_of(moved.begin(), moved.end(), [&](Instruction* const& operand) { return &operand == &user.operands[i]; });
  }

  void Rewrite(Computation& computation) {
    const std::vector<Instruction*> before = computation.instructions;
    absl::flat_hash_set<Instruction**> narrow_operands;  // found before any type changes
    for (Instruction* hlo : before)
      for (size_t i = 0; i < hlo->operand_count(); ++i)
        if (TakesNarrow(*hlo, i)) narrow_operands.insert(&hlo->operands[i]);
    for (Instruction* hlo : before)
      if (IsWidened(*hlo)) hlo->shape_ = NarrowShape(hlo->shape());
    Replacements rounded;  // converts to the narrow type of values that now have it
    for (Instruction* hlo : before) {
      if (IsWidened(*hlo) && ReducesOverDevices(*hlo)) SetAttr(*hlo, module_, kToApply, NarrowReducer(*hlo));
      for (size_t i = 0; i < hlo->operand_count(); ++i) {
        Instruction*& operand = hlo->operands[i];
        if (narrow_operands.contains(&operand)) {
          operand = Converted(operand, narrow_);
        } else if (IsWidened(*operand) && operand->shape().IsArray() && !IsConvert(*hlo) && !IsWidened(*hlo)) {
          operand = Converted(operand, ElementType::kF32);
        }
      }
      if (IsConvert(*hlo) && hlo->shape_ == hlo->operands[0]->shape_) rounded[hlo] = hlo->operands[0];
    }
    Apply(rounded, module_, computation);
    if (computation.root != nullptr && IsWidened(*computation.root)) computation.root = Converted(computation.root, ElementType::kF32);
    SortTopologically(computation);
  }

  // A copy of the reduction for the narrow type.
  Computation* NarrowReducer(const Instruction& collective) {
    Computation* wide = collective[kToApply];
    auto [found, inserted] = reducers_.try_emplace(wide);
    if (!inserted) return found->second;
    Computation* copy = module_.NewComputation(module_.arena.CopyString(StrCat(wide->name, ".", Text(narrow_))));
    copy->at = wide->at;
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* hlo : wide->instructions) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo->operands) operands.push_back(copies.at(operand));
      Instruction* copied = CopyInstruction(module_, *copy, *hlo, operands);
      if (hlo->shape().IsArray() && hlo->shape().element_type() == ElementType::kF32) copied->shape_ = NarrowShape(hlo->shape());
      copies[hlo] = copied;
    }
    for (const Instruction* parameter : wide->parameters) copy->parameters.push_back(copies.at(parameter));
    copy->root = copies.at(wide->root);
    module_.computations.push_back(copy);
    return found->second = copy;
  }

  // Sets the shapes of the state to those of its new elements.
  void RetypeLoop(Instruction& loop) {
    Instruction* initial = loop.operands[0];
    std::vector<const Shape*> elements;
    for (const Instruction* operand : initial->operands) elements.push_back(operand->shape_);
    const Shape* state = module_.shapes.Tuple(elements);
    for (Instruction* hlo : {initial, &loop, BodyOf(loop)->root, BodyOf(loop)->parameters[0], ConditionOf(loop)->parameters[0]})
      hlo->shape_ = state;
  }

  Module& module_;
  const ElementType narrow_;
  const LoopElements loops_;
  const WidenedValues widened_;
  absl::flat_hash_map<std::pair<const Instruction*, ElementType>, Instruction*> converted_;
  absl::flat_hash_map<const Computation*, Computation*> reducers_;
};

}  // namespace

Result<bool> NarrowWidenedTypes(Module& module, const PassContext&) {
  bool any = false;
  for (const ElementType narrow : {ElementType::kBf16, ElementType::kF16}) any |= Narrower(module, narrow).Run();
  return any;
}

namespace {

const Shape* WithDefaultLayouts(const Shape& shape, ShapePool& shapes) {
  if (shape.IsArray()) return shapes.WithDefaultLayout(shape);
  if (!shape.IsTuple()) return &shape;
  std::vector<const Shape*> elements;
  for (const Shape* element : shape.elements()) elements.push_back(WithDefaultLayouts(*element, shapes));
  return shapes.Tuple(elements);
}

}  // namespace

Result<bool> DropLayouts(Module& module, const PassContext&) {
  bool any = false;
  const auto drop = [&](const Shape*& shape) {
    const Shape* plain = WithDefaultLayouts(*shape, module.shapes);
    any |= plain != shape;
    shape = plain;
  };
  for (Computation* computation : module.computations)
    for (Instruction* hlo : computation->instructions) drop(hlo->shape_);
  if (module.entry_layout) {
    for (const Shape*& shape : module.entry_layout->parameters) drop(shape);
    drop(module.entry_layout->result);
  }
  return any;
}

Result<bool> DropSchedule(Module& module, const PassContext&) {
  const bool any = module.is_scheduled;
  module.is_scheduled = false;
  return any;
}

}  // namespace shoal::internal
