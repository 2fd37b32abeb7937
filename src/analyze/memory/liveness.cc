#include "analyze/memory/liveness.h"

#include <algorithm>

#include "core/ir/call_graph.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Scans backwards and marks the last use of every value, and the last get-tuple-element of each element.
void MarkLastUses(const Computation& computation, std::vector<InstructionLiveness>& steps) {
  std::vector<bool> used(computation.instructions.size(), false);
  // For each tuple, true if the whole tuple has a later use, and the elements that have later uses.
  std::vector<bool> used_whole(computation.instructions.size(), false);
  std::vector<std::vector<int64_t>> taken(computation.instructions.size());
  used[computation.root->index] = used_whole[computation.root->index] = true;
  for (size_t s = steps.size(); s-- > 0;) {
    InstructionLiveness& step = steps[s];
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

// Drops steps without side effects whose value is unused. XLA removes such instructions too.
void DropDeadSteps(const Computation& computation, std::vector<InstructionLiveness>& steps) {
  std::vector<bool> needed(computation.instructions.size(), false);
  needed[computation.root->index] = true;
  for (size_t s = steps.size(); s-- > 0;) {
    const Instruction& hlo = *steps[s].hlo;
    needed[hlo.index] = needed[hlo.index] || !IsPure(hlo);
    if (!needed[hlo.index]) continue;
    for (const Instruction* operand : hlo.operands) needed[operand->index] = true;
  }
  std::erase_if(steps, [&](const InstructionLiveness& step) { return !needed[step.hlo->index]; });
}

// Returns the computations that loops call, directly or indirectly.
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

Liveness::Liveness(const Module& module) {
  for (const Computation* computation : CalleesFirst(module)) {  // Add uses the results of callees
    Add(*computation);
    AddStarts(*computation);
  }
  for (const Computation* computation : RunByLoops(module))
    if (auto found = steps_.find(computation); found != steps_.end()) MarkInvariants(*computation, *found->second);
}

void Liveness::Add(const Computation& computation) {
  auto live = std::make_unique<ComputationLiveness>();
  for (const Instruction* hlo : computation.instructions) live->steps.push_back({hlo, {}});
  DropDeadSteps(computation, live->steps);
  MarkLastUses(computation, live->steps);
  live->is_deterministic = std::all_of(
      computation.instructions.begin(), computation.instructions.end(),
      [this](const Instruction* hlo) { return IsParameter(*hlo) || IsDeterministic(*hlo); });
  steps_[&computation] = std::move(live);
}

void Liveness::AddStarts(const Computation& computation) {
  auto ends_start = [](const Instruction& hlo) { return IsAsyncDone(hlo) && (IsCollective(hlo) || IsAsyncChain(hlo)); };
  std::vector<int64_t> users(computation.instructions.size(), 0);
  users[computation.root->index] = 1;
  for (const Instruction* hlo : computation.instructions)
    for (const Instruction* operand : hlo->operands) ++users[operand->index];
  for (const Instruction* hlo : computation.instructions)
    if (ends_start(*hlo) && hlo->operand_count() == 1 && users[hlo->operands[0]->index] == 1)
      used_only_by_done_.insert(hlo->operands[0]);
}

bool Liveness::IsDeterministic(const Instruction& hlo) const {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kControlFlow) {
    const std::vector<Computation*> callees = CalledComputations(hlo);
    return std::all_of(callees.begin(), callees.end(),
                       [this](const Computation* callee) { return IsDeterministic(*callee); });
  }
  return IsPure(hlo) && op_class != OpClass::kOpaque;
}

// Marks instructions that depend on no parameter, so that a loop computes them once. Does not keep large values.
void Liveness::MarkInvariants(const Computation& computation, ComputationLiveness& live) {
  constexpr int64_t kMaxElements = 1 << 18;
  std::vector<bool> invariant(computation.instructions.size(), false);
  std::vector<InstructionLiveness*> steps(invariant.size(), nullptr);
  bool any = false;
  for (InstructionLiveness& step : live.steps) {
    const Instruction& hlo = *step.hlo;
    steps[hlo.index] = &step;
    auto is_invariant = [&](const Instruction* operand) { return invariant[operand->index]; };
    invariant[hlo.index] = IsDeterministic(hlo) && std::all_of(hlo.operands.begin(), hlo.operands.end(), is_invariant);
    if (IsConstant(hlo)) continue;
    step.is_invariant = invariant[hlo.index];
    if (step.is_invariant) continue;
    for (const Instruction* operand : hlo.operands) {
      InstructionLiveness* used = steps[operand->index];
      if (used == nullptr || !used->is_invariant) continue;
      used->is_kept = any = true;
    }
  }
  if (InstructionLiveness* root = steps[computation.root->index]; root != nullptr && root->is_invariant)
    root->is_kept = any = true;
  for (const InstructionLiveness& step : live.steps) {
    const bool small =
        step.hlo->shape().IsArray() && step.hlo->shape().ElementCount().value_or(INT64_MAX) <= kMaxElements;
    any = any && (small || !step.is_kept);
  }
  live.keeps_invariants = any;
}

}  // namespace shoal::internal
