// Simplifies the state of loops. Removes unused elements. After the loop, replaces invariant elements by their initial
// values. In the loop, recomputes invariant elements that consist of a few cheap ops on constants, such as masks.
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

// True for a single-element constant or a few cheap ops on such constants: fused into the loop, they need no memory.
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

class LoopSimplifier {
 public:
  LoopSimplifier(Module& module, const LoopState& state) : module_(module), state_(state) {}

  bool Run() {
    // If no element changes, the loop never runs or never terminates. Keep the loop: then the executor can report this.
    if (AllInvariant()) return false;
    const bool materialized = MaterializeConstants(*state_.body) | MaterializeConstants(*state_.condition);
    const bool bypassed = BypassLoop();
    return DropUnusedElements() || materialized || bypassed;
  }

 private:
  bool AllInvariant() const {
    for (size_t i = 0; i < state_.size(); ++i)
      if (!state_.IsInvariant(i)) return false;
    return true;
  }

  // The index of a get-tuple-element of `tuple`; the number of elements if `hlo` is any other instruction.
  size_t ElementTaken(const Instruction& hlo, const Instruction& tuple) const {
    const bool takes = IsGetTupleElement(hlo) && hlo.operands[0] == &tuple;
    return takes ? ElementNumber(hlo) : state_.size();
  }

  bool MaterializeConstants(Computation& computation) {
    Replacements replacements;
    const std::vector<Instruction*> before = computation.instructions;
    for (Instruction* hlo : before) {
      const size_t i = ElementTaken(*hlo, *computation.parameters[0]);
      if (i == state_.size() || !state_.IsInvariant(i) || !IsGenerated(*state_.first[i])) continue;
      if (std::find(state_.next.begin(), state_.next.end(), hlo) != state_.next.end() && UsedOnlyByRoot(*hlo)) continue;
      if (hlo == computation.root) continue;
      replacements[hlo] = CopyValue(*state_.first[i], computation);
    }
    if (replacements.empty()) return false;
    // The root still forwards the element, so that later passes still recognize it as invariant.
    for (Instruction* hlo : computation.instructions) {
      if (hlo == state_.body->root) continue;
      for (Instruction*& operand : hlo->operands) operand = ResolveReplacement(replacements, operand);
    }
    SortTopologically(computation);
    return true;
  }

  Instruction* CopyValue(const Instruction& hlo, Computation& computation) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : hlo.operands) operands.push_back(CopyValue(*operand, computation));
    return CopyInstruction(module_, computation, hlo, operands);
  }

  bool UsedOnlyByRoot(const Instruction& element) const {
    for (const Instruction* hlo : state_.body->instructions)
      if (hlo != state_.body->root && std::find(hlo->operands.begin(), hlo->operands.end(), &element) != hlo->operands.end())
        return false;
    return true;
  }

  bool BypassLoop() {
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

  // An element is needed if it is used after the loop, by the condition, by an instruction with side effects, or by the
  // next value of a needed element.
  bool DropUnusedElements() {
    std::vector<bool> needed(state_.size(), false);
    std::vector<const Instruction*> worklist;
    const Computation& caller = *state_.loop->parent;
    bool uses_whole = caller.root == state_.loop;
    for (const Instruction* hlo : caller.instructions) {
      const size_t i = ElementTaken(*hlo, *state_.loop);
      if (i != state_.size()) needed[i] = true;
      for (const Instruction* operand : hlo->operands) uses_whole |= operand == state_.loop && i == state_.size();
    }
    if (uses_whole) return false;
    RemoveUnused(*state_.condition, [](const Instruction& hlo) { return !IsGetTupleElement(hlo); });
    for (const Instruction* hlo : state_.condition->instructions)
      if (const size_t i = ElementTaken(*hlo, *state_.condition->parameters[0]); i != state_.size()) needed[i] = true;
    for (const Instruction* hlo : state_.body->instructions)
      if (!IsPureAndMovable(*hlo) && !IsParameter(*hlo)) worklist.push_back(hlo);
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) worklist.push_back(state_.next[i]);
    std::unordered_set<const Instruction*> seen(worklist.begin(), worklist.end());
    const auto mark = [&](const Instruction* hlo) {
      if (seen.insert(hlo).second) worklist.push_back(hlo);
    };
    while (!worklist.empty()) {
      const Instruction* hlo = worklist.back();
      worklist.pop_back();
      const size_t i = ElementTaken(*hlo, *state_.body->parameters[0]);
      if (i != state_.size() && !needed[i]) {
        needed[i] = true;
        mark(state_.next[i]);
      }
      for (const Instruction* operand : hlo->operands) mark(operand);
      for (const Instruction* before : (*hlo)[kControlPredecessors]) mark(before);
    }
    std::vector<size_t> kept;
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) kept.push_back(i);
    if (kept.size() == needed.size() || kept.empty()) return false;
    // First remove instructions that only dropped elements depend on, so that no users of these elements are left.
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
      if (std::optional<LoopState> state = LoopStateOf(*hlo, calls, module)) any |= LoopSimplifier(module, *state).Run();
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));
  return any;
}

}  // namespace shoal::internal
