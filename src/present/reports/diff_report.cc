#include "present/reports/diff_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "analyze/facts/source_lines.h"
#include "analyze/summary/module_facts.h"
#include "analyze/summary/skeleton.h"
#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"
#include "present/reports/assumptions.h"
#include "present/reports/json.h"
#include "present/reports/table.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

// Adds the name (both names if they differ), the op_name and the source line.
void AddLocation(const Change& change, const DiffReport& report, std::vector<std::string>& row) {
  const Instruction* hlo = change.instruction();
  if (hlo == nullptr) return;
  const SourceLines& sources = (change.b != nullptr ? report.b : report.a).facts->sources();
  const bool renamed = change.a != nullptr && change.b != nullptr && change.a->name != change.b->name;
  row.push_back(renamed ? StrCat(change.a->name, " → ", change.b->name) : std::string(hlo->name));
  row.insert(row.end(), {std::string(OpNameOf(*hlo)), sources.Of(*hlo)});
}

std::string DetailText(const Change& change) {
  std::string text = change.what;
  const bool both = !change.before.empty() && !change.after.empty();
  if (!text.empty() && !(change.before.empty() && change.after.empty())) text += ' ';
  if (both) return StrCat(text, change.before, " → ", change.after);
  if (change.kind == ChangeKind::kAdded || change.kind == ChangeKind::kRemoved)
    return StrCat(text, change.before, change.after);
  if (!change.before.empty()) return StrCat(text, change.before, " → none");
  if (!change.after.empty()) return StrCat(text, "none → ", change.after);
  return text;
}

std::string PercentText(double before, double after) {
  const double change = RelativeChange(before, after);
  if (change == 0) return "=";
  if (std::isinf(change)) return "new";
  char text[32];
  std::snprintf(text, sizeof(text), "%+.1f %%", change * 100);
  return text;
}

std::string MetricText(double value, bool is_bytes) { return is_bytes ? FormatBytes(value) : FormatSi(value); }

// Calls visit(name, before, after, is_bytes) for each metric and each kind of collective of either module.
template <class Visit>
void ForEachMetric(const DiffReport& report, Visit visit) {
  const ModuleTotals& a = report.a.totals;
  const ModuleTotals& b = report.b.totals;
  for (const Metric& total : Metrics()) visit(total.name, a.*total.value, b.*total.value, total.is_bytes);
  std::set<std::string> kinds;
  for (const ModuleTotals* totals : {&a, &b})
    for (const auto& [kind, count] : totals->by_kind) kinds.insert(kind);
  for (const std::string& kind : kinds) visit(kind, MetricValue(a, kind), MetricValue(b, kind), false);
}

bool IsBytes(const std::string& metric) {
  for (const Metric& total : Metrics())
    if (metric == total.name) return total.is_bytes;
  return false;
}

std::string ChangesText(const DiffReport& report, int64_t top, const TextStyle& style) {
  Table table({"change",
               ">count",
               {"op", ElideMode::kRight, 4},
               {"detail", ElideMode::kMiddle, 3, 20},
               {"location", ElideMode::kMiddle, 2},
               Column("", ElideMode::kPath, 1, 14).Droppable(),  // op_name
               {"", ElideMode::kPath, 2}});                                      // source line
  int64_t rows = 0, rest_rows = 0, rest = 0;
  for (size_t i = 0; i < report.changes.size(); ++i) {
    const Change& change = report.changes[i];
    const std::string kind(ToString(change.kind));
    const Instruction* hlo = change.kind == ChangeKind::kPropagated ? nullptr : change.instruction();
    if (top <= 0 || rows++ < top) {
      std::vector<std::string> row{kind, StrCat("× ", change.count),
                                   hlo == nullptr ? "" : std::string(Text(hlo->opcode)), DetailText(change)};
      AddLocation(change, report, row);
      table.Add(std::move(row));
    } else {
      ++rest_rows;
      rest += change.count;
    }
    if (i + 1 < report.changes.size() && report.changes[i + 1].kind == change.kind) continue;
    if (rest > 0) table.Add({kind, StrCat("× ", rest), "…", StrCat(Pluralize(rest_rows, "row"), " more")});
    rows = rest_rows = rest = 0;
  }
  return table.ToText(style);
}

std::string ThresholdText(const Threshold& threshold, const DiffReport& report) {
  const double before = MetricValue(report.a.totals, threshold.metric),
               after = MetricValue(report.b.totals, threshold.metric);
  const bool bytes = IsBytes(threshold.metric);
  return StrCat("threshold ", threshold.text,
                IsSatisfied(threshold, before, after) ? " holds: " : " exceeded: ", threshold.metric, " ",
                MetricText(before, bytes), " → ", MetricText(after, bytes), ", ",
                before == after ? "no change" : PercentText(before, after), "\n");
}

Json InstructionJson(const Instruction* hlo, const DiffReport::Side& side) {
  if (hlo == nullptr) return nullptr;
  return {{"name", hlo->name},
          {"computation", hlo->parent->name},
          {"op_name", OpNameOf(*hlo)},
          {"source", side.facts->sources().Of(*hlo)}};
}

Json ChangeJson(const Change& change, const DiffReport& report) {
  const Instruction* hlo = change.instruction();
  return {{"kind", ToString(change.kind)},
          {"count", change.count},
          {"opcode", hlo == nullptr ? "" : Text(hlo->opcode)},
          {"what", change.what},
          {"before", change.before},
          {"after", change.after},
          {"a", InstructionJson(change.a, report.a)},
          {"b", InstructionJson(change.b, report.b)}};
}

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

DiffReport DiffReportOf(const ModuleFacts& a, const std::string& file_a, const ModuleFacts& b, const std::string& file_b) {
  DiffReport report;
  const int64_t elided = ElidedConstants(a.module()) + ElidedConstants(b.module());
  const DiffSide side_a(a, elided > 0), side_b(b, elided > 0);
  report.a = {file_a, &a, a.totals()};
  report.changes = ChangesBetween(side_a, side_b);
  // For equal modules without a schedule, the estimated schedule of A holds for both.
  const bool same = report.changes.empty() && !a.module().is_scheduled && !b.module().is_scheduled;
  report.b = {file_b, &b, same ? report.a.totals : b.totals()};
  if (elided > 0)
    report.assumptions.push_back(
        StrCat(Pluralize(elided, "constant"), " without values in the text: large ones are compared by type only"));
  AddAssumptions(AssumptionsOf(side_a.executions), AssumptionsOf(side_b.executions), report.assumptions);
  AddAssumptions(report.a.totals.assumptions, report.b.totals.assumptions, report.assumptions);
  return report;
}

bool DiffReport::IsSatisfied(const Threshold& threshold) const {
  return shoal::internal::IsSatisfied(threshold, MetricValue(a.totals, threshold.metric), MetricValue(b.totals, threshold.metric));
}

std::string DiffText(const DiffReport& report, int64_t top, const TextStyle& style) {
  std::string text;
  for (const auto& [letter, side] : {std::pair("A: ", &report.a), std::pair("B: ", &report.b)})
    StrAppend(&text, letter, EscapeName(side->file), ", ", Pluralize(static_cast<int64_t>(side->totals.instructions), "instruction"),
              ", ", Pluralize(side->totals.devices.grid.count(), "device"), "\n");
  text += report.changes.empty() ? "no differences\n" : "\n" + ChangesText(report, top, style);
  Table metrics({"", ">A", ">B", ">change"});
  ForEachMetric(report, [&](const std::string& name, double before, double after, bool bytes) {
    if (before == 0 && after == 0) return;
    const bool is_time = name == "step_seconds";
    metrics.Add({name, is_time ? Seconds(before) : MetricText(before, bytes), is_time ? Seconds(after) : MetricText(after, bytes),
                 PercentText(before, after)});
  });
  StrAppend(&text, "\n", metrics.ToText(style));
  for (const Threshold& threshold : report.thresholds) text += ThresholdText(threshold, report);
  return WrapToWidth(text + NotesText(report.assumptions), style);
}

std::string DiffJson(const DiffReport& report) {
  Json changes = Json::array(), metrics = Json::object(), thresholds = Json::array();
  for (const Change& change : report.changes) changes.push_back(ChangeJson(change, report));
  ForEachMetric(report, [&](const std::string& name, double before, double after, bool) {
    if (name == "step_seconds" && before == 0 && after == 0) return;  // predicted only on request
    metrics[name] = {{"a", before}, {"b", after}};
  });
  for (const Threshold& threshold : report.thresholds)
    thresholds.push_back({{"threshold", threshold.text},
                          {"metric", threshold.metric},
                          {"a", MetricValue(report.a.totals, threshold.metric)},
                          {"b", MetricValue(report.b.totals, threshold.metric)},
                          {"holds", report.IsSatisfied(threshold)}});
  const Json all = {{"version", kJsonVersion},
                    {"a", report.a.file},
                    {"b", report.b.file},
                    {"same", report.changes.empty()},
                    {"changes", std::move(changes)},
                    {"metrics", std::move(metrics)},
                    {"thresholds", std::move(thresholds)},
                    {"assumptions", report.assumptions}};
  return JsonText(all);
}

}  // namespace shoal::internal
