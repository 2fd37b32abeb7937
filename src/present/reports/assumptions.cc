#include "present/reports/assumptions.h"

#include "analyze/facts/global_form.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/backend.h"

namespace shoal::internal {
namespace {

// "%a, %b, %c and 4 more"
std::string Names(const std::vector<const Instruction*>& all) {
  constexpr size_t kMax = 3;
  std::string names;
  for (size_t i = 0; i < all.size() && i < kMax; ++i) StrAppend(&names, i == 0 ? "" : ", ", all[i]->name);
  if (all.size() > kMax) StrAppend(&names, " and ", all.size() - kMax, " more");
  return names;
}

// Empty if nothing shows that XLA:CPU compiled the module.
std::string CpuNote(const ModuleFacts& facts) {
  const BackendChoice& compiled = facts.backend();
  if (compiled.backend != Backend::kCpu || !compiled.has_evidence) return {};
  return StrCat("compiled for CPU (", compiled.reason, "): the types and fusions are those of XLA:CPU, which widens bf16 and fp8 "
                "values, also in collectives; for a GPU or TPU, use ", kBackendIndependentStage);
}

}  // namespace

std::vector<std::string> AssumptionsOf(const ExecutionCounts& executions) {
  std::vector<std::string> all;
  const auto& loops = executions.unknown_loops();
  if (!loops.empty())
    all.push_back(StrCat(Pluralize(static_cast<int64_t>(loops.size()), "loop"), " whose trip count depends on data (",
                         Names(loops), "): counted as one iteration; ", Setting("trip_counts"), " overrides this"));
  const auto& assumed = executions.heuristic_loops();
  if (!assumed.empty())
    all.push_back(StrCat(Pluralize(static_cast<int64_t>(assumed.size()), "loop"),
                         " whose condition does not match the loop state (", Names(assumed),
                         "): taken as counters that count up to the constant in the condition"));
  const auto& conditionals = executions.conditionals();
  if (!conditionals.empty())
    all.push_back(StrCat(Pluralize(static_cast<int64_t>(conditionals.size()), "conditional"), " (", Names(conditionals),
                         "): all branches equally likely; ", Setting("probabilities"), " overrides this"));
  return all;
}

std::vector<std::string> AssumptionsOf(const ModuleFacts& facts) {
  std::vector<std::string> all;
  if (std::string note = CpuNote(facts); !note.empty()) all.push_back(std::move(note));
  if (const Instruction* hlo = FirstGlobalSharding(facts.module()))
    all.push_back(StrCat("the module is in global form, before SPMD partitioning (", hlo->name,
                         " has a sharding): shapes and figures are those of whole arrays, not per device, and "
                         "collectives are missing; dump the partitioned module for figures per device"));
  const std::vector<std::string> more = AssumptionsOf(facts.executions());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> AssumptionsOf(const ModuleCost& cost) {
  std::vector<std::string> all;
  for (const auto& [target, count] : cost.unknown_calls)
    all.push_back(StrCat(Pluralize(count, "custom call"), " of ", target,
                         ": unknown cost; counted as reading its operands and writing its results"));
  return all;
}

}  // namespace shoal::internal
