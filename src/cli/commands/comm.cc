#include "cli/commands/comm.h"

#include "present/reports/comm_report.h"

namespace shoal::internal {

int CommCommand(const CommFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Module& module = *input.module;
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({&module});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const ModuleFacts facts(module, {*options, flags.num_replicas, flags.num_partitions, std::nullopt});
  const CommReport report =
      CommReportOf(facts, flags.file, {flags.devices_per_node, /*matrix=*/!flags.matrix.empty(), flags.sort, flags.top});
  const bool csv = report.matrix && flags.matrix == "csv";
  const std::string text = csv ? CommMatrixCsv(report) : flags.common.json ? CommJson(report) : CommText(report, OutputStyle());
  return Finish(input, text, flags.common);
}

}  // namespace shoal::internal
