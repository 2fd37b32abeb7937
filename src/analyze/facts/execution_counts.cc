#include "analyze/facts/execution_counts.h"

#include <set>

#include "core/base/strings.h"
#include "core/base/suggest.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

struct Names {
  std::set<std::string> loops, branches;
};

Names NamesIn(std::initializer_list<const Module*> modules) {
  Names names;
  for (const Module* module : modules) {
    for (const Computation* computation : module->computations) {
      for (const Instruction* hlo : computation->instructions) {
        if (!CallsComputations(*hlo)) continue;
        if (CallKindOf(*hlo) == CallKind::kLoop) names.loops.emplace(hlo->name);
        if (CallKindOf(*hlo) != CallKind::kBranch) continue;
        for (const Computation* branch : CalledComputations(*hlo)) names.branches.emplace(branch->name);
      }
    }
  }
  return names;
}

Status CheckName(const char* kind, const std::string& name, const std::set<std::string>& all) {
  if (all.contains(name)) return {};
  constexpr size_t kMax = 20;
  std::vector<std::string> shown(all.begin(), all.end());
  if (shown.size() > kMax) shown.resize(kMax);
  return Fail(StrCat("unknown ", kind, " '", name, "'; ",
                     all.empty() ? "there are none" : StrCat("known: ", StrJoin(shown, ", ")),
                     all.size() > kMax ? StrCat(" and ", all.size() - kMax, " more") : std::string(),
                     DidYouMean(name, std::vector<std::string>(all.begin(), all.end()))));
}

}  // namespace

Status CheckLoopName(const std::string& name, std::initializer_list<const Module*> modules) {
  return CheckName("loop", name, NamesIn(modules).loops);
}
Status CheckBranchName(const std::string& name, std::initializer_list<const Module*> modules) {
  return CheckName("branch computation", name, NamesIn(modules).branches);
}

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

std::vector<const Instruction*> ExecutionCounts::Loops() const {
  std::vector<const Instruction*> loops;
  for (const Computation* computation : calls_.ReachableFromEntry())
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kLoop) loops.push_back(hlo);
  return loops;
}

}  // namespace shoal::internal
