#include "cli/commands/cost.h"

#include "present/reports/assumptions.h"
#include "present/reports/cost_report.h"

namespace shoal::internal {

int CostCommand(const CostFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({input.module.get()});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const ModuleFacts facts(*input.module, {.execution = *options});
  CostReport report{flags.file, &facts, flags.by, flags.top, AssumptionsOf(facts.executions())};
  const std::vector<std::string> without_cost = AssumptionsOf(facts.cost());
  report.assumptions.insert(report.assumptions.end(), without_cost.begin(), without_cost.end());
  return Finish(input, flags.common.json ? CostJson(report) : CostText(report), flags.common);
}

}  // namespace shoal::internal
