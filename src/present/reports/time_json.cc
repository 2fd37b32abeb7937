#include <algorithm>

#include "analyze/facts/source_lines.h"
#include "core/ops/op.h"
#include "present/reports/json.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

Json TermsJson(const KernelTime& timing) {
  Json terms = Json::array();
  for (const TimeTerm& term : timing.terms)
    terms.push_back({{"bound", ToString(term.bound)}, {"seconds", term.seconds}, {"basis", term.from}});
  return terms;
}

Json OpJson(const OpTime& op, const ModuleFacts& facts, bool with_terms) {
  Json row = {{"name", op.hlo->name},      {"times", op.times},     {"seconds", op.seconds},
              {"seconds_each", op.times > 0 ? op.seconds / op.times : 0},
              {"kind", ToString(op.kind)}, {"kernel", ToString(op.family)}, {"bound", ToString(op.timing.bound)},
              {"flops", op.flops},         {"bytes", op.bytes}};
  if (std::string line = facts.sources().Of(*op.hlo); !line.empty()) row["source"] = line;
  if (with_terms) row["terms"] = TermsJson(op.timing);
  return row;
}

Json CollectiveJson(const AsyncTime& time) {
  const PlannedAsync& async = *time.async;
  Json row = {{"name", async.start->name},
              {"kind", async.use == nullptr ? "copy" : std::string(Text(async.kind))},
              {"axis", async.use == nullptr ? "" : async.use->axis()},
              {"times", time.times},
              {"seconds", time.seconds},
              {"exposed_seconds", time.exposed},
              {"seconds_each", async.timing.seconds},
              {"latency_seconds", async.timing.latency},
              {"bytes", async.bytes},
              {"members", async.place.members},
              {"nodes", async.place.nodes},
              {"algorithm", async.timing.algorithm}};
  return row;
}

// The ten longest times that the step waits for: those of kernels, and the exposed times of collectives.
Json CriticalPath(const SimulatedStep& p) {
  std::vector<std::pair<double, Json>> parts;
  for (const OpTime& op : p.ops) parts.push_back({op.seconds, {{"name", op.hlo->name}, {"seconds", op.seconds}}});
  for (const AsyncTime& time : p.asyncs)
    if (time.exposed > 0) parts.push_back({time.exposed, {{"name", time.async->start->name}, {"seconds", time.exposed}}});
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Json path = Json::array();
  for (size_t i = 0; i < parts.size() && i < 10; ++i) path.push_back(std::move(parts[i].second));
  return path;
}

Json KindsJson(const std::array<double, kTimeKinds>& kinds) {
  Json row = Json::object();
  for (size_t i = 0; i < kTimeKinds; ++i) row[std::string(ToString(static_cast<TimeKind>(i)))] = kinds[i];
  return row;
}

Json ClassesJson(const SimulatedStep& p) {
  Json classes = Json::array();
  for (const ClassTime& one : p.classes)
    classes.push_back({{"name", one.name}, {"devices", one.devices}, {"step_seconds", one.step_seconds},
                       {"device_seconds", one.device_seconds}, {"kinds", KindsJson(one.kinds)}});
  return classes;
}

Json ForecastJson(const TimeReport& report, const Prediction& forecast) {
  const SimulatedStep& p = forecast.prediction;
  Json ops = Json::array(), collectives = Json::array();
  for (size_t i = 0; i < p.ops.size() && (report.all_ops || report.top == 0 || i < report.top); ++i)
    ops.push_back(OpJson(p.ops[i], report.input->facts(), report.all_ops));
  for (const AsyncTime& time : p.asyncs) collectives.push_back(CollectiveJson(time));
  return {{"step_seconds", p.step_seconds},
          {"device_seconds", p.device_seconds},
          {"machine", forecast.machine.name},
          {"devices", forecast.machine.devices()},
          {"schedule", p.schedule_is_estimated ? "estimated" : "module"},
          {"kinds", KindsJson(p.kinds)},
          {"classes", ClassesJson(p)},
          {"mfu", forecast.mfu},
          {"hfu", forecast.hfu},
          {"late_seconds", p.late_seconds},
          {"scale_out", forecast.scale_out},
          {"accuracy", forecast.machine.accuracy},
          {"backend_mismatch", forecast.backend_mismatch},
          {"flops", p.flops},
          {"memory_bytes", p.bytes},
          {"memory_bandwidth", forecast.bandwidth},
          {"launches", p.launches},
          {"host_seconds", p.host_seconds},
          {"memory_needed", forecast.memory_needed},
          {"memory_capacity", forecast.machine.device.memory},
          {"collectives", std::move(collectives)},
          {"critical_path", CriticalPath(p)},
          {"ops", std::move(ops)},
          {"warnings", forecast.warnings}};
}

}  // namespace

namespace {

Json TimeObject(const TimeReport& report) {
  Json all = report.forecasts.empty() ? Json::object() : ForecastJson(report, report.forecasts.front());
  all["version"] = kJsonVersion;
  all["file"] = report.file;
  all["assumptions"] = report.assumptions;
  if (report.input != nullptr) {
    const BackendChoice& backend = report.input->backend();
    all["backend"] = {{"name", ToString(backend.backend)}, {"reason", backend.reason}, {"evident", backend.has_evidence}};
  }
  if (report.forecasts.size() > 1) {
    Json others = Json::array();
    for (size_t i = 0; i < report.forecasts.size(); ++i) {
      Json one = ForecastJson(report, report.forecasts[i]);
      if (!report.sweep.empty()) one[report.sweep] = report.points[i];
      others.push_back(std::move(one));
    }
    all[report.sweep.empty() ? "machines" : "sweep"] = std::move(others);
  }
  if (report.against) {
    Json ops = Json::array();
    for (const MeasuredOp& op : report.against->ops)
      ops.push_back({{"name", op.hlo->name}, {"kind", ToString(op.kind)}, {"predicted_seconds", op.predicted}, {"measured_seconds", op.measured}});
    all["against"] = {{"steps", report.against->steps}, {"predicted_seconds", report.against->predicted},
                      {"measured_seconds", report.against->measured}, {"unmatched_seconds", report.against->unmatched}, {"matched_share", report.against->matched_share}, {"ops", std::move(ops)}};
  }
  return all;
}

}  // namespace

std::string TimeJson(const TimeReport& report) { return JsonText(TimeObject(report)); }

std::string TimePairJson(const TimeReport& a, const TimeReport& b) {
  Json all = TimeObject(a);
  all["b"] = TimeObject(b);
  return JsonText(all);
}

std::string ExplainJson(const TimeReport& report, const std::string& name) {
  Json found = Json::array();
  for (const Prediction& forecast : report.forecasts) {
    for (const OpTime& op : forecast.prediction.ops)
      if (op.hlo->name == name) found.push_back(OpJson(op, report.input->facts(), true));
    for (const AsyncTime& time : forecast.prediction.asyncs)
      if (time.async->start->name == name) found.push_back(CollectiveJson(time));
  }
  return found.empty() ? "" : JsonText(found);
}

}  // namespace shoal::internal
