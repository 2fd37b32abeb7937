#include "cli/commands/diff.h"

#include <algorithm>

#include "present/reports/diff_report.h"

namespace shoal::internal {

int DiffCommand(const DiffFlags& flags) {
  std::vector<Threshold> thresholds;
  for (const std::string& text : flags.thresholds) {
    Result<Threshold> threshold = ParseThreshold(text);
    if (!threshold.ok()) return FailOnUsage(threshold.diag().message, flags.common);
    thresholds.push_back(*threshold);
  }
  const Input a = ReadInput(flags.a, {flags.common.strict}), b = ReadInput(flags.b, {flags.common.strict});
  if (a.module == nullptr) return FailOnInput(a, flags.common);
  if (b.module == nullptr) return FailOnInput(b, flags.common);

  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({a.module.get(), b.module.get()});
  if (!options.ok()) return FailOnInput(a, options.diag(), flags.common);
  const ModuleFacts facts_a(*a.module, {.execution = *options}), facts_b(*b.module, {.execution = *options});
  DiffReport report = DiffReportOf(facts_a, flags.a, facts_b, flags.b);
  report.thresholds = std::move(thresholds);
  const int status = Finish(a, flags.common.json ? DiffJson(report) : DiffText(report, flags.top, OutputStyle()), flags.common);
  PrintWarnings(b, flags.common);
  if (status != kOk) return status;
  const bool exceeded = std::any_of(report.thresholds.begin(), report.thresholds.end(),
                                  [&](const Threshold& threshold) { return !report.IsSatisfied(threshold); });
  return exceeded || (flags.exit_code && !report.changes.empty()) ? kInputError : kOk;
}

}  // namespace shoal::internal
