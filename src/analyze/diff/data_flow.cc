#include "analyze/diff/data_flow.h"

#include <algorithm>

#include "core/ops/traits.h"
#include "core/ops/transfer.h"

namespace shoal::internal {
namespace {

// Beyond this a value is taken to be made where the search has come to: chains without end are linear, circles end.
constexpr int kMaxSteps = 256;

}  // namespace

DataFlow::DataFlow(const Module& module, const CallGraph& calls, const InstructionIds& ids) : ids_(ids) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsLoop(*hlo)) FindInvariants(*hlo);
  FindSurroundings(calls);
  sources_.resize(ids.size());
  for (uint32_t id = 0; id < ids.size(); ++id) sources_[id] = SourceOf(ValueRef{&ids[id], {}});
}

const EnclosingContext& DataFlow::ContextOf(const Computation& computation) const {
  static const EnclosingContext kNone;
  auto found = around_.find(&computation);
  return found == around_.end() ? kNone : found->second;
}

bool DataFlow::IsPartOfCaller(const Computation& computation) const {
  const EnclosingContext& around = ContextOf(computation);
  return around.caller != nullptr && around.kind == CallKind::kOnce && !IsCustomCall(*around.caller);
}

void DataFlow::FindSurroundings(const CallGraph& calls) {
  for (const Computation* computation : calls.ReachableFromEntry()) {
    std::vector<const Instruction*> callers;
    for (const Instruction* caller : calls.CallersOf(*computation))
      if (!IsAsyncChain(*caller) || IsAsyncStart(*caller)) callers.push_back(caller);
    if (callers.empty()) continue;
    // Of several callers the one in the fewest loops, so that it does not depend on the order of the text.
    const Instruction& caller = **std::min_element(callers.begin(), callers.end(), [&](auto* x, auto* y) {
      return ContextOf(*x->parent).loops < ContextOf(*y->parent).loops;
    });
    const EnclosingContext outside = ContextOf(*caller.parent);
    const std::vector<Computation*> callees = CalledComputations(caller);
    const auto at = std::find(callees.begin(), callees.end(), computation);
    EnclosingContext& inside = around_[computation];
    inside = outside;
    inside.kind = CallKindOf(caller);
    inside.number = at - callees.begin();
    const bool once = callers.size() == 1 && std::find(at + 1, callees.end(), computation) == callees.end();
    inside.caller = once ? &caller : nullptr;
    if (inside.kind == CallKind::kLoop) ++inside.loops;
    if (inside.kind == CallKind::kLoop) inside.loop = &caller;
    if (IsFusion(caller)) inside.fusion = &caller;
    if (once) continue;
    inside.loop = inside.fusion = nullptr;
  }
}

void DataFlow::FindInvariants(const Instruction& loop) {
  const Computation* body = BodyOf(loop);
  if (body == nullptr || body->root == nullptr || !IsTuple(*body->root)) return;
  std::vector<bool>& invariant = invariants_[&loop];
  for (size_t i = 0; i < body->root->operand_count(); ++i) {
    const Instruction& element = *body->root->operands[i];
    invariant.push_back(IsGetTupleElement(element) && element.operand_count() == 1 &&
                        IsParameter(*element.operands[0]) && ElementIndexOf(element) == static_cast<int64_t>(i));
  }
}

ValueRef DataFlow::SourceOf(ValueRef place) const {
  for (int steps = 0; steps < kMaxSteps && Step(place); ++steps) {
  }
  return place;
}

bool DataFlow::Step(ValueRef& place) const {
  const Instruction& hlo = *place.hlo;
  if (TraceToOperand(place, Forwarding::kSame | Forwarding::kTupleElement | Forwarding::kTuple)) return true;
  if (IsParameter(hlo)) return StepOut(place);
  if (IsAsyncChain(hlo) && IsAsyncDone(hlo)) {
    const Instruction* start = AsyncStartOf(hlo);
    return start != nullptr && StepInto(RunOnceBy(*start), place);
  }
  return StepInto(IsAsyncChain(hlo) ? nullptr : RunOnceBy(hlo), place);
}

bool DataFlow::StepInto(const Computation* callee, ValueRef& place) const {
  if (callee == nullptr || callee->root == nullptr || !IsPartOfCaller(*callee)) return false;
  place.hlo = callee->root;
  return true;
}

bool DataFlow::StepOut(ValueRef& place) const {
  const EnclosingContext& around = ContextOf(*place.hlo->parent);
  if (around.caller == nullptr || around.kind == CallKind::kElements) return false;
  auto operand = static_cast<size_t>(place.hlo->operator[](kParameterNumber));
  if (around.kind == CallKind::kBranch) operand = static_cast<size_t>(around.number) + 1;
  if (around.kind == CallKind::kOnce && !IsPartOfCaller(*place.hlo->parent)) return false;
  if (around.kind == CallKind::kLoop) {
    auto invariant = invariants_.find(around.caller);
    if (invariant == invariants_.end() || place.path.empty() || operand != 0) return false;
    const auto element = static_cast<size_t>(place.path[0]);
    if (element >= invariant->second.size() || !invariant->second[element]) return false;
  }
  if (operand >= around.caller->operand_count()) return false;
  place.hlo = around.caller->operands[operand];
  return true;
}

}  // namespace shoal::internal
