#include "cli/commands/show.h"

#include "present/reports/show_report.h"

namespace shoal::internal {

int ShowCommand(const ShowFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({input.module.get()});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const ModuleFacts facts(*input.module, {.execution = *options});
  const ShowReport report(facts, flags.file, flags.skeleton, flags.style);
  return Finish(input, flags.common.json ? report.Json() : report.Text(OutputStyle()), flags.common);
}

}  // namespace shoal::internal
