// Explains how the time of an op or a collective was computed.
#include <algorithm>

#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"
#include "present/reports/assumptions.h"
#include "present/reports/table.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

// Describes how the time of an op is computed from its terms.
std::string_view CombinationOf(const OpTime& op, bool tpu) {
  if (op.timing.bound == Bound::kCompiler) return "the compiler's own estimate plus the start of the op";
  if (tpu) return "the longest term plus the start of the op";
  switch (op.family) {
    case KernelKind::kAttention:
    case KernelKind::kRadixSort:
    case KernelKind::kSort:
    case KernelKind::kCopy:
    case KernelKind::kMemcpy:
    case KernelKind::kHostCopy:
    case KernelKind::kTopK: return "the sum of the terms";
    default: return "the start plus a rounded maximum of the other terms, which overlap";
  }
}

std::string ExplainOp(const TimeReport& report, const Prediction& forecast, const OpTime& op, const TextStyle& style) {
  const DeviceModel& device = forecast.machine.device;
  const bool tpu = device.kind == DeviceKind::kTpu;
  const double each = op.times > 0 ? op.seconds / op.times : 0;
  std::string text = StrCat(op.hlo->name, " on ", forecast.machine.name, ": ", Seconds(each), ", ",
                            op.times == 1 ? "once" : StrCat(FormatSi(op.times), " times"), " per step: ",
                            Percent(op.seconds, forecast.prediction.step_seconds), " of the step time\n  ", Text(op.hlo->opcode), " ",
                            ToString(op.hlo->shape()));
  if (const std::string source = report.input->facts().sources().Of(*op.hlo); !source.empty()) StrAppend(&text, ", ", source);
  StrAppend(&text, "\n  kernel kind: ", ToString(op.family), "; bound by ", ToString(op.timing.bound), "\n");
  Table table({"  term", ">time", "basis"});
  for (const TimeTerm& term : op.timing.terms) table.Add({StrCat("  ", ToString(term.bound)), Seconds(term.seconds), term.from});
  text += table.ToText(style);
  StrAppend(&text, "  total ", Seconds(op.timing.seconds), ": ", CombinationOf(op, tpu), "\n");
  if (each > op.timing.seconds * 1.0001)
    StrAppend(&text, "  ", Seconds(each), " in this step: slowed by the power limit of a long step, or by concurrent collectives\n");
  if (each > 0 && op.times > 0) {
    StrAppend(&text, "  reaches ", FormatSi(op.bytes / op.times / each), "B/s of ", FormatSi(device.bandwidth), "B/s memory bandwidth");
    const double peak = op.kernel.product ? PeakOf(device, op.kernel.product->unit) : 0;
    if (op.flops > 0) StrAppend(&text, "; ", FormatSi(op.flops / op.times / each), "flop/s", peak > 0 ? StrCat(" of ", FormatSi(peak), "flop/s") : "");
    text += "\n";
  }
  StrAppend(&text, "  data: ", tpu ? "the device's parameters (shoal machines); nothing was measured"
                                  : "constants in machines/fitted/kernels.yaml, fitted on one H200 and scaled by the device's parameters (docs/time.md)", "\n");
  return text;
}

std::string ExplainTransfer(const Prediction& forecast, const AsyncTime& time) {
  const PlannedAsync& async = *time.async;
  const CollectiveTiming& timing = async.timing;
  const bool measured = timing.algorithm.rfind("measured", 0) == 0;
  std::string text = StrCat(async.start->name, " on ", forecast.machine.name, ": ", Seconds(timing.seconds), ", ",
                            time.times == 1 ? "once" : StrCat(FormatSi(time.times), " times"), " per step; exposed: ",
                            Seconds(time.exposed), " per step\n");
  if (async.use == nullptr)
    return StrCat(text, "  ", timing.algorithm, ", ", FormatBytes(async.bytes), "\n");
  StrAppend(&text, "  ", Text(async.kind), async.kind != async.use->kind ? StrCat(", written as ", Text(async.use->kind)) : "", " of ",
            FormatBytes(async.bytes), " over ", async.use->axis(), ": ", Pluralize(async.place.members, "member"), " on ",
            Pluralize(async.place.nodes, "node"), ", ", async.place.per_node, " per node\n  algorithm: ", timing.algorithm, "; ",
            Seconds(timing.latency), " of latency, ", FormatSi(async.bytes / std::max(1e-12, timing.seconds)), "B/s\n  data: ",
            measured ? "measured curves in machines/fitted/collectives.yaml" : "a model of the library's algorithms and the machine's links", "\n");
  return text;
}

}  // namespace

std::string ExplainText(const TimeReport& report, const std::string& name, const TextStyle& style) {
  std::string text;
  for (const Prediction& forecast : report.forecasts) {
    for (const OpTime& op : forecast.prediction.ops)
      if (op.hlo->name == name) text += ExplainOp(report, forecast, op, style);
    for (const AsyncTime& time : forecast.prediction.asyncs)
      if (time.async->start->name == name) text += ExplainTransfer(forecast, time);
  }
  return text;
}

std::string NoSuchOpMessage(const TimeReport& report, const std::string& name) {
  std::string names;
  size_t count = 0;
  auto suggest = [&](std::string_view candidate) {
    const std::string_view stem = std::string_view(name).substr(0, name.find('.'));
    if (count < 5 && !stem.empty() && candidate.find(stem) != std::string_view::npos)
      StrAppend(&names, count++ == 0 ? "" : ", ", candidate);
  };
  for (const Prediction& forecast : report.forecasts) {
    for (const OpTime& op : forecast.prediction.ops) suggest(op.hlo->name);
    for (const AsyncTime& time : forecast.prediction.asyncs) suggest(time.async->start->name);
    break;
  }
  return StrCat("no op or collective named '", name, "' takes time", names.empty() ? "" : "; similar names: ", names);
}

std::vector<std::string> TimeNotes(const PredictionInput& input, const std::string& devices_from) {
  std::vector<std::string> notes = AssumptionsOf(input.facts().executions());
  // If all branches depend on the device id, no probabilities are assumed.
  if (const DeviceClass& any = input.facts().device_classes().all.front(); any.branches.size() == input.facts().executions().conditionals().size() && !any.branches.empty())
    std::erase_if(notes, [](const std::string& note) { return note.find("equally likely") != std::string::npos; });
  if (input.devices() > 1 && !devices_from.empty()) notes.push_back(devices_from);
  for (const std::string& note : input.facts().collectives().assumptions) notes.push_back(note);
  return notes;
}

}  // namespace shoal::internal
