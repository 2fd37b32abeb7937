#include "cli/commands/diff.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/reports/assumptions.h"
#include "present/reports/diff_report.h"

namespace shoal::internal {
namespace {

int64_t ElidedConstants(const Module& module) {
  int64_t count = 0;
  for (const Computation* computation : module.computations)
    count += std::count_if(computation->instructions.begin(), computation->instructions.end(),
                           [](const Instruction* hlo) { return IsElided(*hlo); });
  return count;
}

// Appends the assumptions about A and B; one that applies to both appears only once.
void AddAssumptions(const std::vector<std::string>& a, const std::vector<std::string>& b,
                    std::vector<std::string>& all) {
  auto contains = [](const std::vector<std::string>& list, const std::string& sentence) {
    return std::find(list.begin(), list.end(), sentence) != list.end();
  };
  for (const std::string& sentence : a) all.push_back(StrCat(contains(b, sentence) ? "A and B: " : "A: ", sentence));
  for (const std::string& sentence : b)
    if (!contains(a, sentence)) all.push_back(StrCat("B: ", sentence));
}

}  // namespace

int DiffCommand(const DiffFlags& flags) {
  DiffReport report;
  for (const std::string& text : flags.thresholds) {
    Result<Threshold> threshold = ParseThreshold(text);
    if (!threshold.ok()) return FailOnUsage(threshold.diag().message, flags.common);
    report.thresholds.push_back(*threshold);
  }
  const Input a = ReadInput(flags.a, {flags.common.strict}), b = ReadInput(flags.b, {flags.common.strict});
  if (a.module == nullptr) return FailOnInput(a, flags.common);
  if (b.module == nullptr) return FailOnInput(b, flags.common);

  const int64_t elided = ElidedConstants(*a.module) + ElidedConstants(*b.module);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({a.module.get(), b.module.get()});
  if (!options.ok()) return FailOnInput(a, options.diag(), flags.common);
  const ModuleFacts facts_a(*a.module, {.execution = *options}), facts_b(*b.module, {.execution = *options});
  const DiffSide side_a(facts_a, elided > 0), side_b(facts_b, elided > 0);
  report.a = {flags.a, a.module.get(), facts_a.totals()};
  report.changes = ChangesBetween(side_a, side_b);
  // For equal modules without a schedule, the estimated schedule of A holds for both.
  const bool same = report.changes.empty() && !a.module->is_scheduled && !b.module->is_scheduled;
  report.b = {flags.b, b.module.get(), same ? report.a.totals : facts_b.totals()};
  if (elided > 0)
    report.assumptions.push_back(
        StrCat(Pluralize(elided, "constant"), " without values in the text: large ones are compared by type only"));
  AddAssumptions(AssumptionsOf(side_a.executions), AssumptionsOf(side_b.executions), report.assumptions);
  AddAssumptions(report.a.totals.assumptions, report.b.totals.assumptions, report.assumptions);
  const int status = Finish(a, flags.common.json ? DiffJson(report) : DiffText(report, flags.top), flags.common);
  PrintWarnings(b, flags.common);
  if (status != kOk) return status;
  const bool exceeded = std::any_of(report.thresholds.begin(), report.thresholds.end(),
                                  [&](const Threshold& threshold) { return !report.IsSatisfied(threshold); });
  return exceeded || (flags.exit_code && !report.changes.empty()) ? kInputError : kOk;
}

}  // namespace shoal::internal
