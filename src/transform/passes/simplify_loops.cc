// Elements of a loop's state that nobody needs are dropped; after the loop, what never changes is what it was before it;
// in the loop, what never changes and is made of constants and a few cheap ops, as a mask, is made where it is needed.
#include <algorithm>
#include <unordered_set>

#include "core/ir/call_graph.h"
#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/loop_state.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

// A scalar constant, or what a few cheap ops make of such: with the loop that needs it, it need not be in memory at all.
bool IsGenerated(const Instruction& hlo, int& budget) {
  if (--budget < 0) return false;
  if (IsSingleElementConstant(hlo)) return true;
  if (IsConstant(hlo) || !IsLoopOp(hlo) || IsExpensive(hlo.opcode) || !hlo[kControlPredecessors].empty()) return false;
  return std::ranges::all_of(hlo.operands, [&](const Instruction* operand) { return IsGenerated(*operand, budget); });
}

bool IsGenerated(const Instruction& hlo) {
  int budget = 16;
  return IsGenerated(hlo, budget);
}

class Simplifying {
 public:
  Simplifying(Module& module, const LoopState& state) : module_(module), state_(state) {}

  bool Run() {
    // A loop in which nothing changes never ends, or never begins: whoever runs it says so.
    if (AllInvariant()) return false;
    const bool known = PutConstants(*state_.body) | PutConstants(*state_.condition);
    const bool passed = PassAround();
    return Drop() || known || passed;
  }

 private:
  bool AllInvariant() const {
    for (size_t i = 0; i < state_.size(); ++i)
      if (!state_.IsInvariant(i)) return false;
    return true;
  }

  // The element that a get-tuple-element takes of `tuple`; the number of elements if it is none.
  size_t ElementTaken(const Instruction& hlo, const Instruction& tuple) const {
    const bool takes = IsGetTupleElement(hlo) && hlo.operands[0] == &tuple;
    return takes ? ElementNumber(hlo) : state_.size();
  }

  bool PutConstants(Computation& computation) {
    Replacements replacements;
    const std::vector<Instruction*> before = computation.instructions;
    for (Instruction* hlo : before) {
      const size_t i = ElementTaken(*hlo, *computation.parameters[0]);
      if (i == state_.size() || !state_.IsInvariant(i) || !IsGenerated(*state_.first[i])) continue;
      if (std::find(state_.next.begin(), state_.next.end(), hlo) != state_.next.end() && UsedOnlyByRoot(*hlo)) continue;
      if (hlo == computation.root) continue;
      replacements[hlo] = Copied(*state_.first[i], computation);
    }
    if (replacements.empty()) return false;
    // The root hands the element on as before, so that it is still seen not to change.
    for (Instruction* hlo : computation.instructions) {
      if (hlo == state_.body->root) continue;
      for (Instruction*& operand : hlo->operands) operand = ResolveReplacement(replacements, operand);
    }
    SortTopologically(computation);
    return true;
  }

  Instruction* Copied(const Instruction& hlo, Computation& computation) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : hlo.operands) operands.push_back(Copied(*operand, computation));
    return CopyInstruction(module_, computation, hlo, operands);
  }

  bool UsedOnlyByRoot(const Instruction& element) const {
    for (const Instruction* hlo : state_.body->instructions)
      if (hlo != state_.body->root && std::find(hlo->operands.begin(), hlo->operands.end(), &element) != hlo->operands.end())
        return false;
    return true;
  }

  bool PassAround() {
    Replacements replacements;
    Computation& caller = *state_.loop->parent;
    for (Instruction* hlo : caller.instructions) {
      const size_t i = ElementTaken(*hlo, *state_.loop);
      if (i != state_.size() && state_.IsInvariant(i) && (*hlo)[kControlPredecessors].empty())
        replacements[hlo] = state_.first[i];
    }
    if (replacements.empty()) return false;
    Apply(replacements, module_, caller);
    std::erase_if(caller.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
    SortTopologically(caller);
    return true;
  }

  // An element is needed if somebody after the loop, the condition or something with an effect asks for it, or the next
  // value of one that is needed.
  bool Drop() {
    std::vector<bool> needed(state_.size(), false);
    std::vector<const Instruction*> todo;
    const Computation& caller = *state_.loop->parent;
    bool whole = caller.root == state_.loop;
    for (const Instruction* hlo : caller.instructions) {
      const size_t i = ElementTaken(*hlo, *state_.loop);
      if (i != state_.size()) needed[i] = true;
      for (const Instruction* operand : hlo->operands) whole |= operand == state_.loop && i == state_.size();
    }
    if (whole) return false;
    RemoveUnused(*state_.condition, [](const Instruction& hlo) { return !IsGetTupleElement(hlo); });
    for (const Instruction* hlo : state_.condition->instructions)
      if (const size_t i = ElementTaken(*hlo, *state_.condition->parameters[0]); i != state_.size()) needed[i] = true;
    for (const Instruction* hlo : state_.body->instructions)
      if (!IsPureAndMovable(*hlo) && !IsParameter(*hlo)) todo.push_back(hlo);
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) todo.push_back(state_.next[i]);
    std::unordered_set<const Instruction*> seen(todo.begin(), todo.end());
    const auto ask = [&](const Instruction* hlo) {
      if (seen.insert(hlo).second) todo.push_back(hlo);
    };
    while (!todo.empty()) {
      const Instruction* hlo = todo.back();
      todo.pop_back();
      const size_t i = ElementTaken(*hlo, *state_.body->parameters[0]);
      if (i != state_.size() && !needed[i]) {
        needed[i] = true;
        ask(state_.next[i]);
      }
      for (const Instruction* operand : hlo->operands) ask(operand);
      for (const Instruction* before : (*hlo)[kControlPredecessors]) ask(before);
    }
    std::vector<size_t> kept;
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) kept.push_back(i);
    if (kept.size() == needed.size() || kept.empty()) return false;
    // What only led to dropped elements goes first, so that nothing is left that takes them.
    std::erase_if(state_.body->instructions, [&](const Instruction* hlo) {
      return hlo != state_.body->root && !IsParameter(*hlo) && !seen.contains(hlo) &&
             ElementTaken(*hlo, *state_.body->parameters[0]) == state_.size();
    });
    RewriteLoopState(module_, state_, kept, {});
    SortTopologically(*state_.body);
    SortTopologically(*state_.condition);
    SortTopologically(*state_.loop->parent);
    return true;
  }

  Module& module_;
  const LoopState& state_;
};

}  // namespace

Result<bool> SimplifyLoops(Module& module, const PassContext& context) {
  bool any = false;
  const CallCounts calls = CountCalls(module);
  for (Computation* computation : CalleesFirst(module)) {
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (std::optional<LoopState> state = LoopStateOf(*hlo, calls, module)) any |= Simplifying(module, *state).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
