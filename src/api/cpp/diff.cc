#include "shoal/diff.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <tuple>

#include "analyze/diff/fingerprint.h"
#include "api/cpp/facts_state.h"
#include "api/cpp/predict_state.h"
#include "core/base/strings.h"
#include "predict/timeline/predict.h"
#include "present/reports/diff_report.h"

namespace shoal::internal {
namespace {

shoal::Change PublicChange(const Change& change, const FactsHandle& a, const FactsHandle& b) {
  shoal::Change out;
  out.kind = ToString(change.kind);
  if (change.a != nullptr) out.a = a->View(*change.a);
  if (change.b != nullptr) out.b = b->View(*change.b);
  out.what = change.what;
  out.before = change.before;
  out.after = change.after;
  out.count = change.count;
  return out;
}

// Predicts the step time on the machine.
shoal::Status AddStepTime(const char* side, const FactsHandle& facts, const Machine& machine, ModuleTotals& totals,
                          std::vector<std::string>& notes) {
  auto input = PredictionInput::Of(std::shared_ptr<const ModuleFacts>(facts, &facts->facts));
  if (!input.ok()) return facts->module->MakeError(input.diag());
  auto prediction = PredictOnMachine(**input, machine);
  if (!prediction.ok()) return facts->module->MakeError(prediction.diag());
  totals.step_seconds = prediction->prediction.step_seconds;
  if (!prediction->backend_mismatch.empty()) notes.insert(notes.begin(), StrCat(side, ": ", prediction->backend_mismatch));
  return Nothing();
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Result<std::string> Fingerprint(const Module& module) {
  if (module.empty()) return internal::NoModuleError();
  return internal::Guarded([&]() -> Result<std::string> {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016" PRIx64, internal::ModuleFingerprint(module.state()->module()));
    return std::string(digits);
  });
}

Result<ModuleDiff> Diff(const Facts& a, const Facts& b, const DiffOptions& options) {
  if (options.top < 0) return internal::ArgumentError("top must not be negative");
  return internal::Guarded([&]() -> Result<ModuleDiff> {
    std::vector<internal::Threshold> thresholds;
    for (const std::string& text : options.thresholds) {
      auto threshold = internal::ParseThreshold(text);
      if (!threshold.ok()) return internal::ArgumentError(threshold.diag().message);
      if (text.starts_with("step_seconds") && !options.machine)
        return internal::ArgumentError(internal::StrCat("the threshold ", text, " needs a machine"));
      thresholds.push_back(*threshold);
    }
    const internal::FactsHandle left = a.state(), right = b.state();
    auto report = std::make_shared<internal::DiffReport>(
        internal::DiffReportOf(left->facts, left->file(), right->facts, right->file()));
    report->thresholds = std::move(thresholds);
    if (options.machine)
      for (auto [name, facts, side] : {std::tuple("A", &left, &report->a), std::tuple("B", &right, &report->b)})
        if (const Status done = internal::AddStepTime(name, *facts, options.machine->state()->machine, side->totals, report->assumptions); !done.ok())
          return done.error();
    ModuleDiff diff{internal::MakeView(
        [report, left, right, top = options.top](const auto& style) { return DiffText(*report, top, style); },
        [report, left, right] { return DiffJson(*report); })};
    for (const internal::Change& change : report->changes) diff.changes.push_back(internal::PublicChange(change, left, right));
    diff.a = internal::PublicTotals(report->a.totals);
    diff.b = internal::PublicTotals(report->b.totals);
    for (const internal::Threshold& threshold : report->thresholds)
      if (!report->IsSatisfied(threshold)) diff.exceeded.push_back(threshold.text);
    return diff;
  });
}

}  // namespace shoal::inline v0_1
