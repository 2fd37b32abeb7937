#include "present/reports/show_report.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"
#include "present/reports/assumptions.h"
#include "present/reports/show_json.h"

namespace shoal::internal {
namespace {

void KeepKinds(StepTotals& totals, ShownOps ops) {
  std::erase_if(totals.kinds, [&](const KindTotal& kind) {
    return (ops == ShownOps::kCommunication && kind.interest != OpCategory::kCommunication) ||
           (ops == ShownOps::kComputation && kind.interest != OpCategory::kComputation);
  });
}

}  // namespace

ShowReport::ShowReport(const ModuleFacts& facts, std::string file, const SkeletonOptions& skeleton, const SkeletonStyle& style)
    : facts_(facts), file_(std::move(file)), style_(style), skeleton_(facts, skeleton), totals_(facts.step_totals()),
      assumptions_(AssumptionsOf(facts)) {
  KeepKinds(totals_, skeleton.ops);
  const std::vector<std::string>& more = facts.collectives().assumptions;
  assumptions_.insert(assumptions_.end(), more.begin(), more.end());
}

std::string ShowReport::Text(const TextStyle& text_style) const {
  SkeletonStyle style = style_;
  style.text = text_style;
  const std::string_view name = facts_.module().name;
  std::string text = StrCat(name.empty() ? "module" : name, " on ", facts_.devices().from, "\n");
  text += SkeletonText({facts_, skeleton_, totals_}, style);
  return WrapToWidth(text + NotesText(assumptions_), style.text);
}

std::string ShowReport::Json() const {
  const InferredGrid& devices = facts_.devices();
  return ShowJson(file_, {facts_, skeleton_, totals_}, {devices.grid.count(), devices.from}, assumptions_);
}

}  // namespace shoal::internal
