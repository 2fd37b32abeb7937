#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"
#include "present/reports/table.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

std::string Digits(double number, int decimals) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, number);
  return text;
}

std::string SummaryText(const TimeReport& report, const Prediction& forecast) {
  const SimulatedStep& p = forecast.prediction;
  std::string text;
  if (!forecast.backend_mismatch.empty()) StrAppend(&text, "warning: ", forecast.backend_mismatch, "\n\n");
  StrAppend(&text, "step ", Seconds(p.step_seconds), " on ", forecast.machine.name, "; device busy for ",
            Seconds(p.device_seconds), "; schedule: ",
            p.schedule_is_estimated ? "estimated by shoal" : "from the module", "\n");
  const std::string hfu = forecast.hfu > forecast.mfu ? StrCat(", HFU ", Digits(100 * forecast.hfu, 1), " %") : "";
  StrAppend(&text, "MFU ", Digits(100 * forecast.mfu, 1), " %", hfu, ", ", WithUnit(p.flops / std::max(1e-12, p.step_seconds), "flop/s"),
            "; memory ", WithUnit(forecast.bandwidth, "B/s"), " of ", WithUnit(forecast.machine.device.bandwidth, "B/s"),
            "; needs ", FormatBytes(forecast.memory_needed), " of ", FormatBytes(forecast.machine.device.memory), "\n");
  if (forecast.scale_out != 1)
    StrAppend(&text, "the module is for ", report.input->devices(), " devices: groups that span nodes grow ",
              forecast.scale_out, "-fold, shapes stay fixed (weak scaling)\n");
  if (!forecast.machine.accuracy.empty()) StrAppend(&text, "accuracy on ", forecast.machine.family, ": ", forecast.machine.accuracy, "\n");
  return text;
}

std::string KindTable(const SimulatedStep& p, const TextStyle& style) {
  Table table({"kind", ">time", ">of the step"});
  for (size_t i = 0; i < kTimeKinds; ++i) {
    if (p.kinds[i] <= 0) continue;
    const auto kind = static_cast<TimeKind>(i);
    const bool waits = kind == TimeKind::kCommunication || kind == TimeKind::kCopy;
    table.Add({StrCat(waits ? "exposed " : "", ToString(kind)), Seconds(p.kinds[i]), Percent(p.kinds[i], p.step_seconds)});
  }
  table.Add({"step", Seconds(p.step_seconds), "100.0 %"});
  return table.ToText(style);
}

// A row per class of devices, if they do different work.
std::string ClassTable(const SimulatedStep& p, const TextStyle& style) {
  if (p.classes.size() < 2) return "";
  Table table({"devices", ">count", ">step", ">busy", ">matrix", ">memory", ">exposed communication", ">idle"});
  for (const ClassTime& one : p.classes) {
    auto kind = [&](TimeKind k) { return Seconds(one.kinds[static_cast<size_t>(k)]); };
    table.Add({one.name, FormatSi(one.devices), Seconds(one.step_seconds), Seconds(one.device_seconds), kind(TimeKind::kMatrix),
               kind(TimeKind::kMemory), kind(TimeKind::kCommunication), kind(TimeKind::kIdle)});
  }
  return StrCat("\n", table.ToText(style), "\nslowest class, shown below: ", p.classes[p.slowest_class].name, "\n");
}

std::string CollectiveTable(const SimulatedStep& p, const TextStyle& style) {
  // Sums by kind and mesh axis.
  struct Sum {
    double calls = 0, bytes = 0, busy = 0, exposed = 0;
    std::string algorithm;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const AsyncTime& time : p.asyncs) {
    if (time.async->use == nullptr) continue;
    Sum& sum = sums[{std::string(Text(time.async->kind)), time.async->use->axis()}];
    sum.calls += time.times;
    sum.bytes += time.times * time.async->bytes;
    sum.busy += time.seconds;
    sum.exposed += time.exposed;
    if (sum.algorithm.empty()) sum.algorithm = time.async->timing.algorithm;
  }
  if (sums.empty() && p.late_seconds <= 0) return "";
  Table table({"collective", "axis", ">calls", ">bytes", ">time", ">exposed", "algorithm"});
  for (const auto& [key, sum] : sums)
    table.Add({key.first, key.second, FormatSi(sum.calls), FormatBytes(sum.bytes), Seconds(sum.busy), Seconds(sum.exposed), sum.algorithm});
  if (p.late_seconds > 0) table.Add({"waiting for late devices", "", "", "", "", Seconds(p.late_seconds), ""});
  return "\n" + table.ToText(style);
}

std::string OpTable(const TimeReport& report, const SimulatedStep& p, const TextStyle& style) {
  Table table({"op", ">count", ">time", ">of the step", "kernel", "bound by", "source"});
  for (size_t i = 0; i < p.ops.size() && (report.top == 0 || i < report.top); ++i) {
    const OpTime& op = p.ops[i];
    table.Add({std::string(op.hlo->name), FormatSi(op.times), Seconds(op.seconds), Percent(op.seconds, p.step_seconds),
               std::string(ToString(op.family)), std::string(ToString(op.timing.bound)), report.input->facts().sources().Of(*op.hlo)});
  }
  return table.empty() ? "" : "\n" + table.ToText(style);
}

std::string LineTable(const TimeReport& report, const SimulatedStep& p, const TextStyle& style) {
  std::map<std::string, double> lines;
  for (const OpTime& op : p.ops)
    if (std::string source = report.input->facts().sources().Of(*op.hlo); !source.empty()) lines[source] += op.seconds;
  if (lines.empty()) return "";
  std::vector<std::pair<std::string, double>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Table table({"source line", ">time", ">of the step"});
  for (size_t i = 0; i < sorted.size() && (report.top == 0 || i < report.top); ++i)
    table.Add({sorted[i].first, Seconds(sorted[i].second), Percent(sorted[i].second, p.step_seconds)});
  return "\n" + table.ToText(style);
}

std::string ComparisonTable(const TimeReport& report, const TextStyle& style) {
  const bool scales = std::any_of(report.forecasts.begin(), report.forecasts.end(), [](const Prediction& f) { return f.scale_out != 1; });
  std::vector<Column> columns{report.sweep.empty() ? "machine" : report.sweep, ">step", ">busy", ">matrix", ">memory",
                              ">exposed communication", ">idle", ">MFU"};
  if (scales) columns.push_back("groups across nodes");
  Table table(std::move(columns));
  for (size_t i = 0; i < report.forecasts.size(); ++i) {
    const Prediction& f = report.forecasts[i];
    auto kind = [&](TimeKind k) { return Seconds(f.prediction.kinds[static_cast<size_t>(k)]); };
    std::vector<std::string> cells{report.sweep.empty() ? f.machine.name : report.points[i], Seconds(f.prediction.step_seconds),
                                   Seconds(f.prediction.device_seconds), kind(TimeKind::kMatrix), kind(TimeKind::kMemory),
                                   kind(TimeKind::kCommunication), kind(TimeKind::kIdle), Digits(100 * f.mfu, 1) + " %"};
    if (scales) cells.push_back(f.scale_out == 1 ? "as compiled" : StrCat("× ", f.scale_out, ", same shapes (weak scaling)"));
    table.Add(std::move(cells));
  }
  return table.ToText(style);
}

// The backend mismatches of several predictions, each sentence once.
std::string MismatchText(const TimeReport& report) {
  std::string text;
  for (const Prediction& forecast : report.forecasts)
    if (!forecast.backend_mismatch.empty() && text.find(forecast.backend_mismatch) == std::string::npos)
      StrAppend(&text, "warning: ", forecast.backend_mismatch, "\n");
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string Percent(double part, double whole) { return whole > 0 ? Digits(100 * part / whole, 1) + " %" : "-"; }

std::string WithUnit(double number, std::string_view unit) {
  if (unit == "s") return number == 0 ? "0 s" : Seconds(number);
  const std::string text = FormatSi(number);
  const bool has_prefix = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
  return StrCat(text, has_prefix || unit.empty() ? "" : " ", unit);
}

std::string Seconds(double seconds) {
  char text[48];
  const double size = std::abs(seconds);
  if (size >= 1) std::snprintf(text, sizeof(text), "%.3f s", seconds);
  else if (size >= 1e-3) std::snprintf(text, sizeof(text), "%.3f ms", seconds * 1e3);
  else std::snprintf(text, sizeof(text), "%.2f us", seconds * 1e6);
  return text;
}

std::string TimeText(const TimeReport& report, const TextStyle& style) {
  std::string text;
  if (report.forecasts.size() == 1) {
    const Prediction& forecast = report.forecasts.front();
    const SimulatedStep& p = forecast.prediction;
    text = StrCat(SummaryText(report, forecast), "\n", KindTable(p, style), ClassTable(p, style), CollectiveTable(p, style),
                  OpTable(report, p, style), LineTable(report, p, style));
  } else {
    text = MismatchText(report) + ComparisonTable(report, style);
  }
  std::string notes;
  for (size_t i = 0; i < report.forecasts.size(); ++i)
    for (const std::string& warning : report.forecasts[i].warnings) {
      std::string prefix;
      if (report.forecasts.size() > 1)
        prefix = report.sweep.empty() ? StrCat(report.forecasts[i].machine.name, ": ") : StrCat(report.sweep, "=", report.points[i], ": ");
      StrAppend(&notes, "warning: ", prefix, warning, "\n");
    }
  if (!report.forecasts.empty())
    for (const std::string& note : report.forecasts.front().prediction.notes) StrAppend(&notes, "note: ", note, "\n");
  for (const std::string& note : report.assumptions) StrAppend(&notes, "note: ", note, "\n");
  return notes.empty() ? text : text + "\n" + notes;
}

std::string TimePairText(const TimeReport& a, const TimeReport& b, const TextStyle& style) {
  std::string text = MismatchText(a) + MismatchText(b) + StrCat("A: ", a.file, "\nB: ", b.file, "\n");
  for (size_t i = 0; i < a.forecasts.size() && i < b.forecasts.size(); ++i) {
    const Prediction &one = a.forecasts[i], &other = b.forecasts[i];
    Table table({StrCat("on ", one.machine.name), ">A", ">B", ">change"});
    const auto add = [&](const std::string& name, double before, double after, bool is_time) {
      if (before == 0 && after == 0) return;
      const double change = before > 0 ? 100 * (after - before) / before : INFINITY;
      table.Add({name, is_time ? Seconds(before) : FormatBytes(before), is_time ? Seconds(after) : FormatBytes(after),
                 before == after ? "=" : std::isfinite(change) ? StrCat(change > 0 ? "+" : "", Digits(change, 1), " %") : "new"});
    };
    add("step", one.prediction.step_seconds, other.prediction.step_seconds, true);
    add("busy", one.prediction.device_seconds, other.prediction.device_seconds, true);
    for (size_t k = 0; k < kTimeKinds; ++k) {
      const auto kind = static_cast<TimeKind>(k);
      const bool waits = kind == TimeKind::kCommunication || kind == TimeKind::kCopy;
      add(StrCat(waits ? "exposed " : "", ToString(kind)), one.prediction.kinds[k], other.prediction.kinds[k], true);
    }
    add("memory needed", one.memory_needed, other.memory_needed, false);
    table.Add({"MFU", Digits(100 * one.mfu, 1) + " %", Digits(100 * other.mfu, 1) + " %", ""});
    StrAppend(&text, "\n", table.ToText(style));
  }
  std::string notes;
  for (const auto& [letter, report] : {std::pair("A: ", &a), std::pair("B: ", &b)}) {
    for (const Prediction& forecast : report->forecasts)
      for (const std::string& warning : forecast.warnings) StrAppend(&notes, "warning: ", letter, forecast.machine.name, ": ", warning, "\n");
    for (const std::string& note : report->assumptions) StrAppend(&notes, "note: ", letter, note, "\n");
  }
  return notes.empty() ? text : text + "\n" + notes;
}

std::string ProfileComparisonText(const TimeReport& report, const TextStyle& style) {
  const ProfileComparison& c = *report.against;
  auto ratio = [](double measured, double predicted) { return predicted > 0 ? Digits(measured / predicted, 2) : "-"; };
  std::array<double, kTimeKinds> predicted{}, measured{};
  for (const MeasuredOp& op : c.ops) {
    predicted[static_cast<size_t>(op.kind)] += op.predicted;
    measured[static_cast<size_t>(op.kind)] += op.measured;
  }
  Table kinds({"kind", ">predicted", ">measured", ">measured/predicted"});
  for (size_t i = 0; i < kTimeKinds; ++i)
    if (predicted[i] > 0)
      kinds.Add({std::string(ToString(static_cast<TimeKind>(i))), Seconds(predicted[i]), Seconds(measured[i]), ratio(measured[i], predicted[i])});
  if (c.unmatched > 0) kinds.Add({"not matched to an instruction", "-", Seconds(c.unmatched), "-"});
  kinds.Add({"total", Seconds(c.predicted), Seconds(c.measured), ratio(c.measured, c.predicted)});
  Table ops({"op", ">predicted", ">measured", ">measured/predicted", "kind", "source"});
  for (size_t i = 0; i < c.ops.size() && (report.top == 0 || i < report.top); ++i) {
    const MeasuredOp& op = c.ops[i];
    ops.Add({std::string(op.hlo->name), Seconds(op.predicted), Seconds(op.measured), ratio(op.measured, op.predicted),
             std::string(ToString(op.kind)), report.input->facts().sources().Of(*op.hlo)});
  }
  return StrCat(MismatchText(report), "predicted on ", report.forecasts.front().machine.name, " and measured over ", FormatSi(c.steps),
                c.steps == 1 ? " step" : " steps", " of the profile; ", Percent(c.matched_share, 1),
                " of the measured time is matched to instructions\n\n", kinds.ToText(style), "\nlargest prediction errors\n\n", ops.ToText(style));
}

}  // namespace shoal::internal
