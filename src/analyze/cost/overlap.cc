#include "analyze/cost/overlap.h"

#include <algorithm>

#include "analyze/facts/async_regions.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool DoesWork(const Instruction& hlo) {
  static constexpr OpClass kNoWork[] = {OpClass::kStructure, OpClass::kTransfer, OpClass::kCollective};
  const OpClass op_class = Info(hlo.opcode).op_class;
  return !IsBitcast(hlo) && std::find(std::begin(kNoWork), std::end(kNoWork), op_class) == std::end(kNoWork);
}

}  // namespace

Overlaps::Overlaps(const ModuleCost& cost, const ExecutionCounts& executions) : executions_(executions) {
  for (const InstructionCost& each : cost.instructions)
    if (DoesWork(*each.hlo)) flops_[each.hlo] = each.once.flops;
  const auto& order = executions.calls().ReachableFromEntry();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    double& sum = computation_flops_[*it];
    for (const Instruction* hlo : (*it)->instructions) sum += FlopsOf(*hlo);
  }
}

// The constructor visits callees before callers. `computation_flops_` therefore already has the sums of the callees.
double Overlaps::FlopsOf(const Instruction& hlo) const {
  auto own = flops_.find(&hlo);
  if (own != flops_.end()) return own->second;
  if (!CallsComputations(hlo) || IsFusion(hlo)) return 0;
  const CallKind kind = CallKindOf(hlo);
  if (kind == CallKind::kElements) return 0;
  const std::vector<Computation*> callees = CalledComputations(hlo);
  double sum = 0;
  for (const Computation* callee : callees)
    if (auto found = computation_flops_.find(callee); found != computation_flops_.end()) sum += found->second;
  if (kind == CallKind::kLoop) return sum * static_cast<double>(executions_.TripCountOfLoop(hlo).count);
  return kind == CallKind::kBranch ? sum / static_cast<double>(callees.size()) : sum;
}

const Overlaps::PrefixSums& Overlaps::PrefixSumsOf(const Computation& computation) {
  auto [found, inserted] = sums_.try_emplace(&computation);
  PrefixSums& sums = found->second;
  if (!inserted) return sums;
  sums.instructions.push_back(0);
  sums.flops.push_back(0);
  for (const Instruction* hlo : computation.instructions) {
    sums.instructions.push_back(sums.instructions.back() + (DoesWork(*hlo) ? 1 : 0));
    sums.flops.push_back(sums.flops.back() + (DoesWork(*hlo) ? FlopsOf(*hlo) : 0));
  }
  return sums;
}

void Overlaps::Add(const PrefixSums& sums, size_t from, size_t to, Overlap& overlap) const {
  overlap.instructions += sums.instructions[to] - sums.instructions[from];
  overlap.flops += sums.flops[to] - sums.flops[from];
}

Overlap Overlaps::Of(const Instruction& start, const Instruction& done) {
  Overlap overlap;
  if (&start == &done) return overlap;
  const PrefixSums& sums = PrefixSumsOf(*start.parent);
  const Instruction* end = CallerWithin(*start.parent, done, executions_.calls());
  if (end != nullptr && end->index > start.index) {
    Add(sums, start.index + 1, end->index, overlap);
    if (end != &done) Add(PrefixSumsOf(*done.parent), 0, done.index, overlap);
    return overlap;
  }
  Add(sums, start.index + 1, start.parent->instructions.size(), overlap);
  overlap.crosses_iteration = end == &done;
  if (overlap.crosses_iteration) Add(sums, 0, done.index, overlap);
  return overlap;
}

}  // namespace shoal::internal
