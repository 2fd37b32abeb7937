#include "analyze/diff/data_flow.h"

#include <algorithm>

#include "core/ops/traits.h"
#include "core/ops/transfer.h"

namespace shoal::internal {
namespace {

// Limits the steps of a search, which may be in a cycle. At the limit, the last value reached counts as the source.
constexpr int kMaxSteps = 256;

}  // namespace

DataFlow::DataFlow(const Module& module, const CallGraph& calls, const InstructionIds& ids) : ids_(ids) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsLoop(*hlo)) FindInvariants(*hlo);
  FindContexts(calls);
  sources_.resize(ids.size());
  for (uint32_t id = 0; id < ids.size(); ++id) sources_[id] = SourceOf(ValueRef{&ids[id], {}});
}

const EnclosingContext& DataFlow::ContextOf(const Computation& computation) const {
  static const EnclosingContext kNone;
  auto found = contexts_.find(&computation);
  return found == contexts_.end() ? kNone : found->second;
}

bool DataFlow::IsPartOfCaller(const Computation& computation) const {
  const EnclosingContext& context = ContextOf(computation);
  return context.caller != nullptr && context.kind == CallKind::kOnce && !IsCustomCall(*context.caller);
}

void DataFlow::FindContexts(const CallGraph& calls) {
  for (const Computation* computation : calls.ReachableFromEntry()) {
    std::vector<const Instruction*> callers;
    for (const Instruction* caller : calls.CallersOf(*computation))
      if (!IsAsyncChain(*caller) || IsAsyncStart(*caller)) callers.push_back(caller);
    if (callers.empty()) continue;
    // If there are several callers, use a caller in the fewest loops. This choice does not depend on text order.
    const Instruction& caller = **std::min_element(callers.begin(), callers.end(), [&](auto* x, auto* y) {
      return ContextOf(*x->parent).loops < ContextOf(*y->parent).loops;
    });
    const EnclosingContext outside = ContextOf(*caller.parent);
    const std::vector<Computation*> callees = CalledComputations(caller);
    const auto at = std::find(callees.begin(), callees.end(), computation);
    EnclosingContext& inside = contexts_[computation];
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

ValueRef DataFlow::SourceOf(ValueRef position) const {
  for (int steps = 0; steps < kMaxSteps && Step(position); ++steps) {
  }
  return position;
}

bool DataFlow::Step(ValueRef& position) const {
  const Instruction& hlo = *position.hlo;
  if (TraceToOperand(position, Forwarding::kSame | Forwarding::kTupleElement | Forwarding::kTuple)) return true;
  if (IsParameter(hlo)) return StepOut(position);
  if (IsAsyncChain(hlo) && IsAsyncDone(hlo)) {
    const Instruction* start = AsyncStartOf(hlo);
    return start != nullptr && StepInto(CalleeRunOnce(*start), position);
  }
  return StepInto(IsAsyncChain(hlo) ? nullptr : CalleeRunOnce(hlo), position);
}

bool DataFlow::StepInto(const Computation* callee, ValueRef& position) const {
  if (callee == nullptr || callee->root == nullptr || !IsPartOfCaller(*callee)) return false;
  position.hlo = callee->root;
  return true;
}

bool DataFlow::StepOut(ValueRef& position) const {
  const EnclosingContext& context = ContextOf(*position.hlo->parent);
  if (context.caller == nullptr || context.kind == CallKind::kElements) return false;
  auto operand = static_cast<size_t>(position.hlo->operator[](kParameterNumber));
  if (context.kind == CallKind::kBranch) operand = static_cast<size_t>(context.number) + 1;
  if (context.kind == CallKind::kOnce && !IsPartOfCaller(*position.hlo->parent)) return false;
  if (context.kind == CallKind::kLoop) {
    auto invariant = invariants_.find(context.caller);
    if (invariant == invariants_.end() || position.path.empty() || operand != 0) return false;
    const auto element = static_cast<size_t>(position.path[0]);
    if (element >= invariant->second.size() || !invariant->second[element]) return false;
  }
  if (operand >= context.caller->operand_count()) return false;
  position.hlo = context.caller->operands[operand];
  return true;
}

}  // namespace shoal::internal
