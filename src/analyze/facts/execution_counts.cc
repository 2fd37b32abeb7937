#include "analyze/facts/execution_counts.h"

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

ExecutionCounts::ExecutionCounts(const Module& module, const ExecutionOptions& options)
    : calls_(module), known_(calls_) {
  if (module.entry != nullptr) counts_[module.entry] = 1;
  for (const Computation* computation : calls_.ReachableFromEntry()) {
    const double count = counts_[computation];
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo)) AddCallees(*hlo, count, options);
  }
}

double ExecutionCounts::Of(const Computation& computation) const {
  auto found = counts_.find(&computation);
  return found == counts_.end() ? 0 : found->second;
}

void ExecutionCounts::AddCallees(const Instruction& caller, double count, const ExecutionOptions& options) {
  const CallKind kind = CallKindOf(caller);
  if (kind == CallKind::kLoop) {
    TripCount trips = TripCountOf(caller, known_);
    if (auto option = options.trips.find(std::string(caller.name)); option != options.trips.end()) {
      trips.count = option->second;
      trips.from = TripCount::Provenance::kGiven;
      trips.counter.reset();
    }
    if (!trips.known()) unknown_loops_.push_back(&caller);
    if (trips.from == TripCount::Provenance::kAssumed) heuristic_loops_.push_back(&caller);
    counts_[BodyOf(caller)] += count * static_cast<double>(trips.count);
    counts_[ConditionOf(caller)] += count * static_cast<double>(trips.count + 1);
    trips_[&caller] = trips;
    return;
  }
  const std::vector<Computation*> callees = CalledComputations(caller);
  if (kind == CallKind::kBranch) conditionals_.push_back(&caller);
  for (const Computation* callee : callees) {
    double probability = 1;
    if (kind == CallKind::kBranch) {
      auto option = options.probabilities.find(std::string(callee->name));
      probability = option != options.probabilities.end() ? option->second : 1.0 / static_cast<double>(callees.size());
    }
    counts_[callee] += count * probability;
  }
}

}  // namespace shoal::internal
