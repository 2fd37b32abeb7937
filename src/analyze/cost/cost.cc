#include "analyze/cost/cost.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// True for an op whose entire cost is that of its called computations, which are counted separately.
bool OnlyCalls(const Instruction& hlo) {
  return !IsFusion(hlo) && !IsCustomCall(hlo) && CallsComputations(hlo) &&
         CallKindOf(hlo) != CallKind::kElements;
}

Cost Work(const OpCost& cost) {
  // XLA returns -1 for unknown counts.
  return {std::max<double>(cost.flops, 0), std::max<double>(cost.transcendentals, 0), cost.read, cost.written};
}

}  // namespace

Cost CostOf(const Instruction& hlo, XlaCost& xla) {
  if (!IsCustomCall(hlo)) return Work(xla.Of(hlo));
  return CustomCallCost(hlo).value_or(MemoryOfCall(hlo));
}

bool IsCostedByCaller(const Computation& computation, const CallGraph& calls) {
  for (const Instruction* caller : calls.CallersOf(computation))
    if (!IsFusion(*caller) && CallKindOf(*caller) != CallKind::kElements) return false;
  return !calls.CallersOf(computation).empty();
}

void Cost::Add(const Cost& other, double times) {
  flops += other.flops * times;
  transcendentals += other.transcendentals * times;
  bytes_read += other.bytes_read * times;
  bytes_written += other.bytes_written * times;
}

ModuleCost CostOf(const Module& module, const ExecutionCounts& executions) {
  ModuleCost result;
  XlaCost xla;
  if (module.entry == nullptr) return result;
  // Visit callees before callers: the costs of callees are then cached, so deep nesting causes no deep recursion.
  const std::vector<const Computation*>& order = executions.calls().ReachableFromEntry();
  for (auto computation = order.rbegin(); computation != order.rend(); ++computation) xla.Of(**computation);
  result.xla = xla.Of(*module.entry);
  for (const Computation* computation : executions.calls().ReachableFromEntry()) {
    if (IsCostedByCaller(*computation, executions.calls())) continue;
    const double times = executions.Of(*computation);
    for (const Instruction* hlo : computation->instructions) {
      if (OnlyCalls(*hlo)) continue;
      InstructionCost cost{hlo, times, {}, false};
      cost.once = CostOf(*hlo, xla);
      cost.unknown = IsCustomCall(*hlo) && !CustomCallCost(*hlo);
      if (cost.unknown) ++result.unknown_calls[std::string(TargetOf(*hlo))];
      const bool is_free = cost.once.flops == 0 && cost.once.transcendentals == 0 && cost.once.bytes() == 0;
      if (is_free && !cost.unknown) continue;
      result.total.Add(cost.once, times);
      result.instructions.push_back(cost);
    }
  }
  return result;
}

}  // namespace shoal::internal
