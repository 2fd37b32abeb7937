#include "cli/verbs/cost.h"

#include "present/reports/assumptions.h"
#include "present/reports/cost_report.h"

namespace shoal {

int CostVerb(const CostFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return Refuse(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.For({input.module.get()});
  if (!options.ok()) return Refuse(input, options.diag(), flags.common);
  const Executions executions(*input.module, *options);
  CostReport report{flags.file, input.module.get(), CostOf(*input.module, executions), flags.by, flags.top,
                    AssumptionsOf(executions)};
  const std::vector<std::string> unpriced = AssumptionsOf(report.cost);
  report.assumptions.insert(report.assumptions.end(), unpriced.begin(), unpriced.end());
  return Finish(input, flags.common.json ? CostJson(report) : CostText(report), flags.common);
}

}  // namespace shoal
