#include "transform/passes/loop_state.h"

#include <algorithm>

#include "core/ir/common_attrs.h"
#include "core/ir/rewrite.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

using While = Op<Opcode::kWhile>;

bool IsElementOf(const Instruction& user, const Instruction& tuple) {
  return user.opcode == Opcode::kGetTupleElement && user.operands[0] == &tuple;
}

// True if all users of the parameter are get-tuple-elements.
bool IsUsedByElement(const Computation& computation) {
  if (computation.parameters.size() != 1 || !computation.parameters[0]->shape().IsTuple()) return false;
  const Instruction& parameter = *computation.parameters[0];
  if (computation.root == &parameter) return false;
  for (const Instruction* hlo : computation.instructions)
    for (const Instruction* operand : hlo->operands)
      if (operand == &parameter && !IsElementOf(*hlo, parameter)) return false;
  return true;
}

void SetElementNumber(Module& module, Instruction& hlo, size_t i) {
  SetAttr(hlo, module, Op<Opcode::kGetTupleElement>::kIndex, static_cast<int64_t>(i));
}

Instruction* NewTuple(Module& module, Computation& computation, const std::vector<Instruction*>& elements,
                      const Instruction& instead_of) {
  std::vector<const Shape*> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape_);
  return NewInstruction(module, computation, Opcode::kTuple, module.shapes.Tuple(shapes), elements, instead_of);
}

// Replaces the parameter by a parameter of the new shape. `new_index`: new index of each element; SIZE_MAX: removed.
Instruction* ChangeParameter(Module& module, Computation& computation, const Shape* shape,
                             const std::vector<size_t>& new_index) {
  Instruction* old = computation.parameters[0];
  Instruction* parameter = NewInstruction(module, computation, Opcode::kParameter, shape, {}, *old);
  SetAttr(*parameter, module, kParameterNumber, int64_t{0});
  computation.parameters[0] = parameter;
  std::vector<Instruction*> removed{old};
  for (Instruction* hlo : computation.instructions) {
    if (!IsElementOf(*hlo, *old)) continue;
    const size_t index = new_index[ElementNumber(*hlo)];
    if (index == SIZE_MAX) {
      removed.push_back(hlo);
      continue;
    }
    hlo->operands[0] = parameter;
    SetElementNumber(module, *hlo, index);
  }
  std::erase_if(computation.instructions,
                [&](const Instruction* hlo) { return std::find(removed.begin(), removed.end(), hlo) != removed.end(); });
  return parameter;
}

}  // namespace

size_t ElementNumber(const Instruction& hlo) {
  return static_cast<size_t>(hlo[Op<Opcode::kGetTupleElement>::kIndex]);
}

Instruction* ElementOf(Module& module, Computation& computation, Instruction& tuple, size_t i) {
  if (tuple.opcode == Opcode::kTuple) return tuple.operands[i];
  Instruction* const operands[] = {&tuple};
  Instruction* element = NewInstruction(module, computation, Opcode::kGetTupleElement,
                                        &tuple.shape().element(static_cast<int64_t>(i)), operands, tuple);
  SetElementNumber(module, *element, i);
  return element;
}

bool LoopState::IsInvariant(size_t i) const {
  return IsElementOf(*next[i], *body->parameters[0]) && ElementNumber(*next[i]) == i;
}

CallCounts CountCalls(const Module& module) {
  CallCounts counts;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      for (const Computation* callee : CalledComputations(*hlo)) ++counts[callee];
  return counts;
}

std::optional<LoopState> LoopStateOf(Instruction& loop, const CallCounts& calls, Module& module) {
  if (loop.opcode != Opcode::kWhile || !loop[kControlPredecessors].empty()) return std::nullopt;
  LoopState state;
  state.loop = &loop;
  state.body = loop[While::kBody];
  state.condition = loop[While::kCondition];
  if (calls.at(state.body) != 1 || calls.at(state.condition) != 1) return std::nullopt;
  if (!IsUsedByElement(*state.body) || !IsUsedByElement(*state.condition)) return std::nullopt;
  const Instruction& root = *state.body->root;
  if (root.opcode != Opcode::kTuple || !root[kControlPredecessors].empty()) return std::nullopt;
  for (const Instruction* hlo : state.body->instructions)  // the root must not be used as an operand
    for (const Instruction* operand : hlo->operands)
      if (operand == &root) return std::nullopt;
  state.next.assign(root.operands.begin(), root.operands.end());
  for (size_t i = 0; i < state.next.size(); ++i)
    state.first.push_back(ElementOf(module, *loop.parent, *loop.operands[0], i));
  return state;
}

std::vector<Instruction*> RewriteLoopState(Module& module, const LoopState& state, const std::vector<size_t>& kept,
                                      const std::vector<Instruction*>& added) {
  Instruction& loop = *state.loop;
  Computation& caller = *loop.parent;
  std::vector<size_t> new_index(state.size(), SIZE_MAX);
  std::vector<Instruction*> first, next, inside;
  for (size_t i = 0; i < kept.size(); ++i) {
    new_index[kept[i]] = i;
    first.push_back(state.first[kept[i]]);
    next.push_back(state.next[kept[i]]);
  }
  first.insert(first.end(), added.begin(), added.end());
  // Keep the declared shapes of the old state, which may differ in layout from its elements.
  std::vector<const Shape*> shapes;
  for (size_t i : kept) shapes.push_back(&loop.shape().element(static_cast<int64_t>(i)));
  for (const Instruction* value : added) shapes.push_back(value->shape_);
  const Shape* shape = module.shapes.Tuple(shapes);

  Instruction* const init[] = {NewTuple(module, caller, first, loop)};
  init[0]->shape_ = shape;
  Instruction* parameter = ChangeParameter(module, *state.body, shape, new_index);
  ChangeParameter(module, *state.condition, shape, new_index);
  for (size_t i = 0; i < added.size(); ++i) {
    inside.push_back(ElementOf(module, *state.body, *parameter, kept.size() + i));
    next.push_back(inside.back());
  }
  Instruction* old_root = state.body->root;
  state.body->root = NewTuple(module, *state.body, next, *old_root);
  state.body->root->shape_ = shape;
  std::erase(state.body->instructions, old_root);
  RemoveUnused(*state.body, [](const Instruction& hlo) { return hlo.opcode != Opcode::kGetTupleElement; });

  Instruction* new_loop = CopyInstruction(module, caller, loop, init);
  new_loop->shape_ = shape;
  DropAttr(*new_loop, module, kSharding.id);
  Replacements replacements;
  bool used_whole = caller.root == &loop;
  for (Instruction* hlo : caller.instructions) {
    if (IsElementOf(*hlo, loop)) {
      if (const size_t index = new_index[ElementNumber(*hlo)]; index != SIZE_MAX) {
        hlo->operands[0] = new_loop;
        SetElementNumber(module, *hlo, index);
      }
      continue;
    }
    for (const Instruction* operand : hlo->operands) used_whole |= operand == &loop;
  }
  if (used_whole) {
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < kept.size(); ++i) elements.push_back(ElementOf(module, caller, *new_loop, i));
    replacements[&loop] = NewTuple(module, caller, elements, loop);
    Apply(replacements, module, caller);
  }
  std::erase(caller.instructions, &loop);
  return inside;
}

}  // namespace shoal::internal
