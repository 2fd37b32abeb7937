#include "present/reports/run_report.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "execute/collectives/deadlock.h"
#include "present/reports/diags_json.h"
#include "present/reports/compare_json.h"
#include "present/reports/table.h"
#include "present/reports/traffic_json.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxRows = 200;

std::string RunSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g s", seconds);
  return text;
}

// "7 runs: 0.12 to 0.15 s, median 0.13 s"
std::string Repeats(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return StrCat(seconds.size(), " runs: ", RunSeconds(seconds.front()), " to ", RunSeconds(seconds.back()), ", median ",
                RunSeconds(seconds[seconds.size() / 2]));
}

std::string Crc(uint32_t crc) {
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", crc);
  return text;
}

std::vector<std::string> RowOf(const Output& output) {
  const ArraySummary& summary = output.summary;
  const bool any = summary.finite > 0;
  const std::string devices = DeviceList(output.devices);
  return {StrCat(output.number),
          ToString(output.array),
          devices.substr(devices.find(' ') + 1),
          any ? StrCat(summary.min) : "-",
          any ? StrCat(summary.max) : "-",
          any ? StrCat(summary.mean) : "-",
          StrCat(summary.nans),
          StrCat(summary.infs),
          Crc(summary.crc32)};
}

// The sum over all devices.
std::map<Opcode, Traffic> AllTraffic(const RunStats& stats) {
  std::map<Opcode, Traffic> all;
  for (const std::map<Opcode, Traffic>& device : stats.traffic) {
    for (const auto& [opcode, traffic] : device) {
      all[opcode].calls += traffic.calls;
      all[opcode].payload_bytes += traffic.payload_bytes;
      all[opcode].wire_bytes += traffic.wire_bytes;
    }
  }
  return all;
}

std::vector<DeviceTraffic> ByDevice(const RunStats& stats) {
  std::vector<DeviceTraffic> all;
  for (const std::map<Opcode, Traffic>& device : stats.traffic) {
    DeviceTraffic& sums = all.emplace_back();
    for (const auto& [kind, traffic] : device)
      sums[kind] = {static_cast<double>(traffic.calls), static_cast<double>(traffic.payload_bytes),
                    static_cast<double>(traffic.wire_bytes)};
  }
  return all;
}

Json LoopsJson(const RunStats& stats) {
  Json loops = Json::array();
  for (const auto& [loop, runs] : stats.loops)
    loops.push_back({{"name", loop->name},
                     {"computation", loop->parent->name},
                     {"executions", runs.entered},
                     {"iterations", runs.iterations}});
  return loops;
}

Json BranchesJson(const RunStats& stats) {
  Json branches = Json::array();
  for (const auto& [conditional, taken] : stats.branches) {
    const std::vector<Computation*> callees = CalledComputations(*conditional);
    const int64_t all = std::accumulate(taken.begin(), taken.end(), int64_t{0});
    for (size_t b = 0; b < taken.size(); ++b)
      branches.push_back(
          {{"name", conditional->name}, {"computation", callees[b]->name}, {"taken", taken[b]}, {"executions", all}});
  }
  return branches;
}

}  // namespace

std::string ReportText(const RunReport& report, const TextStyle& style) {
  const RunStats& stats = report.stats;
  std::string text = StrCat(EscapeName(report.file), ": ran on ", report.devices.from, ", in ", RunSeconds(stats.seconds),
                            report.compile_seconds > 0 ? StrCat(" + compiled in ", RunSeconds(report.compile_seconds)) : "",
                            "\n");
  if (!report.processes.empty()) StrAppend(&text, "in ", report.processes, "\n");
  if (report.run_seconds.size() > 1) StrAppend(&text, Repeats(report.run_seconds), "\n");
  int64_t peak = 0;
  for (int64_t bytes : stats.peak_bytes) peak = std::max(peak, bytes);
  StrAppend(&text, Pluralize(stats.instructions, "instruction"), ", ", Pluralize(stats.iterations, "loop iteration"),
            ", at most ", FormatBytes(static_cast<double>(peak)), " of arrays per device; numerics ",
            ToString(report.numerics.numerics), "\n");
  Traffic moved;
  for (const auto& [opcode, traffic] : AllTraffic(stats)) {
    moved.calls += traffic.calls;
    moved.wire_bytes += traffic.wire_bytes;
  }
  if (moved.calls > 0)
    StrAppend(&text, Pluralize(moved.calls, "collective call"), ", ", FormatBytes(static_cast<double>(moved.wire_bytes)),
              " received from other devices\n");
  Table table({"output", {"shape", ElideMode::kRight, 1}, {"devices", ElideMode::kRight, 2, 7}, "min", "max", "mean", "nan", "inf",
               Column("crc32").Droppable()});
  for (size_t i = 0; i < report.outputs.size() && i < kMaxRows; ++i) table.Add(RowOf(report.outputs[i]));
  if (!table.empty()) text += table.ToText(style);
  if (report.outputs.size() > kMaxRows)
    StrAppend(&text, "… and ", report.outputs.size() - kMaxRows, " more rows; the JSON form has all\n");
  return WrapToWidth(text, style);
}

std::string ReportLiterals(const RunReport& report) {
  std::string text;
  for (const Output& output : report.outputs) {
    StrAppend(&text, "output ", output.number);
    if (report.devices.grid.count() > 1) StrAppend(&text, ", ", DeviceList(output.devices));
    StrAppend(&text, ": ", LiteralText(output.array), "\n");
  }
  return text;
}

std::string ExplainedProgramJson(const std::string& file, const std::string& program) {
  return JsonText({{"version", kJsonVersion}, {"ok", true}, {"file", file}, {"program", program}});
}

std::string ReportJson(const RunReport& report) {
  Json outputs = Json::array();
  for (const Output& output : report.outputs) {
    const ArraySummary& summary = output.summary;
    const bool any = summary.finite > 0;
    outputs.push_back({{"output", output.number},
                       {"shape", ToString(output.array)},
                       {"devices", output.devices},
                       {"min", any ? Json(summary.min) : Json()},
                       {"max", any ? Json(summary.max) : Json()},
                       {"mean", any ? Json(summary.mean) : Json()},
                       {"nan", summary.nans},
                       {"inf", summary.infs},
                       {"crc32", Crc(summary.crc32)}});
  }
  Json collectives = Json::object();
  for (const auto& [opcode, traffic] : AllTraffic(report.stats))
    collectives[std::string(Text(opcode))] = {
        {"calls", traffic.calls}, {"payload_bytes", traffic.payload_bytes}, {"wire_bytes", traffic.wire_bytes}};
  double fallback_seconds = 0;
  for (const auto& [hlo, seconds] : report.stats.fallback_seconds) fallback_seconds += seconds;
  Json all = {
      {"version", kJsonVersion},
      {"ok", !report.snapshot || Agree(*report.snapshot)},
      {"file", report.file},
      {"devices", DevicesJson(report.devices)},
      {"inputs", report.inputs},
      {"numerics", {{"name", ToString(report.numerics.numerics)}, {"reason", report.numerics.reason}}},
      {"seconds", report.stats.seconds},
      {"compile_seconds", report.compile_seconds},
      {"run_seconds", report.run_seconds},
      {"interpreter_seconds", fallback_seconds},
      {"instructions", report.stats.instructions},
      {"iterations", report.stats.iterations},
      {"peak_bytes", report.stats.peak_bytes},
      {"collectives", std::move(collectives)},
      {"collectives_by_device", TrafficJson(ByDevice(report.stats))},
      {"loops", LoopsJson(report.stats)},
      {"branches", BranchesJson(report.stats)},
      {"diagnostics", DiagsJson(report.diags, report.text)},
      {"outputs", std::move(outputs)},
  };
  if (!report.processes.empty()) all["processes"] = report.processes;
  if (report.snapshot) all["snapshot"] = {{"ok", Agree(*report.snapshot)}, {"outputs", ComparisonsJson(*report.snapshot)}};
  return JsonText(all);
}

}  // namespace shoal::internal
