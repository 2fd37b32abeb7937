#include "cli/commands/cost.h"

namespace shoal::internal {

int CostCommand(const CostFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({input.module.get()});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const ModuleFacts facts(*input.module, {.execution = *options});
  const CostReport report = CostReportOf(facts, flags.file, flags.options);
  return Finish(input, flags.common.json ? CostJson(report) : CostText(report, OutputStyle()), flags.common);
}

}  // namespace shoal::internal
