#include "cli/commands/diff.h"

#include <algorithm>

#include "core/base/strings.h"
#include "predict/timeline/predict.h"
#include "present/reports/diff_report.h"

namespace shoal::internal {
namespace {

// Predicts the step time on the machine.
Status AddStepTime(const char* side, const std::shared_ptr<const ModuleFacts>& facts, const Machine& machine, ModuleTotals& totals,
                   std::vector<std::string>& notes) {
  SHOAL_ASSIGN(input, PredictionInput::Of(facts));
  SHOAL_ASSIGN(prediction, PredictOnMachine(*input, machine));
  totals.step_seconds = prediction.prediction.step_seconds;
  if (!prediction.backend_mismatch.empty()) notes.insert(notes.begin(), StrCat(side, ": ", prediction.backend_mismatch));
  return {};
}

}  // namespace

int DiffCommand(const DiffFlags& flags) {
  for (const std::string& text : flags.thresholds)
    if (text.starts_with("step_seconds") && flags.on.empty())
      return FailOnUsage(StrCat("the threshold ", text, " needs a machine: --on=h100x8"), flags.common);
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
  const auto facts_a = std::make_shared<const ModuleFacts>(*a.module, FactOptions{.execution = *options});
  const auto facts_b = std::make_shared<const ModuleFacts>(*b.module, FactOptions{.execution = *options});
  DiffReport report = DiffReportOf(*facts_a, flags.a, *facts_b, flags.b);
  report.thresholds = std::move(thresholds);
  if (!flags.on.empty()) {
    const Result<Machine> machine = LoadMachine(flags.on);
    if (!machine.ok()) return FailOnUsage(machine.diag().message, flags.common);
    if (Status done = AddStepTime("A", facts_a, *machine, report.a.totals, report.assumptions); !done.ok()) return FailOnInput(a, done.diag(), flags.common);
    if (Status done = AddStepTime("B", facts_b, *machine, report.b.totals, report.assumptions); !done.ok()) return FailOnInput(b, done.diag(), flags.common);
  }
  const int status = Finish(a, flags.common.json ? DiffJson(report) : DiffText(report, flags.top, OutputStyle()), flags.common);
  PrintWarnings(b, flags.common);
  if (status != kOk) return status;
  const bool exceeded = std::any_of(report.thresholds.begin(), report.thresholds.end(),
                                  [&](const Threshold& threshold) { return !report.IsSatisfied(threshold); });
  return exceeded || (flags.exit_code && !report.changes.empty()) ? kCheckFailed : kOk;
}

}  // namespace shoal::internal
