#include "present/reports/run_profile.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "analyze/cost/cost.h"
#include "analyze/facts/participants.h"
#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/common_attrs.h"
#include "core/ops/families.h"
#include "present/reports/table.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

constexpr size_t kTopInstructions = 20;
constexpr uint32_t kStepStream = 0, kWaitStream = 1;

using Costs = std::unordered_map<const Instruction*, Cost>;

// The cost of one execution of each instruction. Includes those inside fusions, because library fusions run op by op.
Costs CostsOnce(const Module& module) {
  Costs costs;
  XlaCost xla;
  // Callees first, so that deeply nested calls need no recursion.
  const std::vector<const Computation*> order = CallGraph(module).ReachableFromEntry();
  for (auto computation = order.rbegin(); computation != order.rend(); ++computation) {
    xla.Of(**computation);
    for (const Instruction* hlo : (*computation)->instructions) costs[hlo] = CostOf(*hlo, xla);
  }
  return costs;
}

std::string FractionText(double fraction) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * fraction);
  return text;
}

// "41.2 (25 %)": billions per second, and the fraction of the machine peak.
std::string Rate(double amount, double seconds, double peak) {
  if (amount <= 0 || seconds <= 0) return "-";
  char text[48];
  std::snprintf(text, sizeof text, "%.3g (%.0f %%)", amount / seconds / 1e9, 100 * amount / seconds / peak);
  return text;
}

std::string OriginText(const Instruction& hlo, const SourceLines& sources) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr) return "";
  const std::string location = sources.Of(hlo);
  return StrCat(metadata->op_name, !metadata->op_name.empty() && !location.empty() ? ", " : "", location);
}

const char* CategoryOf(const Instruction& hlo) {
  if (IsCommunication(hlo)) return "communication";
  return Info(hlo.opcode).op_class == OpClass::kContraction ? "matrix" : "memory";
}

// One execution of a collective: the index of the event on each device; SIZE_MAX if the device does not participate.
using CollectiveEvents = std::vector<size_t>;

class TraceOfLog {
 public:
  explicit TraceOfLog(const RunProfile& profile)
      : profile_(profile), costs_(CostsOnce(*profile.module)), participants_(profile.grid), sources_(*profile.module, profile.own_packages) {}

  Trace Run() {
    trace_.source = StrCat("shoal run ", profile_.file);
    trace_.streams = {"instructions", "waits"};
    for (int64_t d = 0; d < profile_.log->devices(); ++d) {
      trace_.devices.push_back(StrCat("device ", d));
      AddSteps(d);
    }
    for (const auto& [hlo, executions] : executions_)
      for (const CollectiveEvents& events : executions) AddExecution(*hlo, events);
    return std::move(trace_);
  }

 private:
  void AddSteps(int64_t device) {
    std::vector<StepLog::StepSpan> steps = profile_.log->steps(device);
    std::stable_sort(steps.begin(), steps.end(),
                     [](const StepLog::StepSpan& a, const StepLog::StepSpan& b) { return a.start < b.start; });
    std::unordered_map<const Instruction*, size_t> counts;
    std::unordered_map<const Instruction*, size_t> last;  // the last event of each instruction
    for (const StepLog::StepSpan& step : steps) {
      const size_t index = trace_.events.size();
      trace_.events.push_back(EventOf(step, device));
      last[step.hlo] = index;
      if (!IsCommunication(*step.hlo)) continue;
      // A done ends the transfer that its operand started. Any other communication is a rendezvous.
      if (step.hlo->operand_count() == 1 && IsCommunication(*step.hlo->operands[0]) && last.contains(step.hlo->operands[0])) {
        trace_.flows.push_back({last[step.hlo->operands[0]], index});
        continue;
      }
      std::vector<CollectiveEvents>& executions = executions_[step.hlo];
      const size_t number = counts[step.hlo]++;
      if (executions.size() <= number)
        executions.resize(number + 1, CollectiveEvents(static_cast<size_t>(profile_.log->devices()), SIZE_MAX));
      executions[number][static_cast<size_t>(device)] = index;
    }
  }

  TraceEvent EventOf(const StepLog::StepSpan& step, int64_t device) const {
    TraceEvent event;
    event.name = step.hlo->name;
    event.device = static_cast<uint32_t>(device);
    event.stream = kStepStream;
    event.start = step.start;
    event.duration = step.end - step.start;
    event.category = CategoryOf(*step.hlo);
    event.details.emplace_back("op", Text(step.hlo->opcode));
    event.details.emplace_back("shape", ToString(step.hlo->shape()));
    if (const std::string origin = OriginText(*step.hlo, sources_); !origin.empty())
      event.details.emplace_back("source", origin);
    if (auto cost = costs_.find(step.hlo); cost != costs_.end() && event.duration > 0) {
      if (cost->second.flops > 0) event.details.emplace_back("GFLOP/s", StrCat(cost->second.flops / event.duration / 1e9));
      event.details.emplace_back("GB/s", StrCat(cost->second.bytes() / event.duration / 1e9));
    }
    return event;
  }

  // All members of a group wait for the last one to arrive.
  void AddExecution(const Instruction& hlo, const CollectiveEvents& events) {
    const Participants& participants = participants_.Of(hlo);
    if (participants.groups.empty() || !participants.mismatch.empty()) return;
    for (const DeviceGroup& group : participants.groups) {
      size_t last = SIZE_MAX;
      for (int64_t device : group) {
        const size_t event = device < std::ssize(events) ? events[static_cast<size_t>(device)] : SIZE_MAX;
        if (event != SIZE_MAX && (last == SIZE_MAX || trace_.events[event].start > trace_.events[last].start)) last = event;
      }
      if (last == SIZE_MAX) continue;
      for (int64_t device : group) {
        const size_t event = device < std::ssize(events) ? events[static_cast<size_t>(device)] : SIZE_MAX;
        if (event != SIZE_MAX && event != last) AddWait(event, last);
      }
    }
  }

  void AddWait(size_t event, size_t last) {
    trace_.flows.push_back({last, event});
    const TraceEvent waiting = trace_.events[event];
    const double until = std::min(trace_.events[last].start, waiting.start + waiting.duration);
    if (until <= waiting.start) return;
    TraceEvent idle;
    idle.name = StrCat("wait in ", waiting.name, " for device ", trace_.events[last].device);
    idle.device = waiting.device;
    idle.stream = kWaitStream;
    idle.start = waiting.start;
    idle.duration = until - waiting.start;
    idle.category = "idle";
    trace_.events.push_back(std::move(idle));
  }

  const RunProfile& profile_;
  Costs costs_;
  ParticipantTable participants_;
  SourceLines sources_;
  Trace trace_;
  std::map<const Instruction*, std::vector<CollectiveEvents>> executions_;
};

}  // namespace

std::string ProfileText(const RunProfile& profile, const TextStyle& style) {
  const std::map<const Instruction*, StepLog::Total> totals = profile.log->Totals();
  std::vector<std::pair<const Instruction*, StepLog::Total>> steps(totals.begin(), totals.end());
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return a.second.seconds != b.second.seconds ? a.second.seconds > b.second.seconds : a.first->name < b.first->name;
  });
  double all = 0;
  for (const auto& [hlo, total] : steps) all += total.seconds;
  const Costs costs = CostsOnce(*profile.module);
  const SourceLines sources(*profile.module, profile.own_packages);
  std::string text = StrCat(Pluralize(std::ssize(steps), "instruction"), " took ", Seconds(all), " in total on ",
                            Pluralize(profile.grid.count(), "device"), "; measured peak of this machine: ", FormatSi(profile.peak_flops), "FLOP/s in f32 and ",
                            FormatSi(profile.peak_bytes), "B/s\n");
  Table table({{"instruction", ElideMode::kRight, 2}, {"op", ElideMode::kRight, 3}, Column("time").Right(),
               Column("share").Right(), Column("count").Right(), Column("GFLOP/s").Right(), Column("GB/s").Right(),
               Column("source", ElideMode::kLeft, 1).Droppable()});
  for (size_t i = 0; i < steps.size() && i < kTopInstructions; ++i) {
    const auto& [hlo, total] = steps[i];
    const auto found = costs.find(hlo);
    const Cost cost = found == costs.end() ? Cost() : found->second;
    const auto times = static_cast<double>(total.times);
    table.Add({std::string(hlo->name), std::string(Text(hlo->opcode)), Seconds(total.seconds),
               FractionText(all > 0 ? total.seconds / all : 0), StrCat(total.times),
               Rate(cost.flops * times, total.seconds, profile.peak_flops),
               Rate(cost.bytes() * times, total.seconds, profile.peak_bytes), OriginText(*hlo, sources)});
  }
  text += table.ToText(style);
  const int64_t rest = std::ssize(steps) - static_cast<int64_t>(kTopInstructions);
  if (rest > 0) StrAppend(&text, "… and ", Pluralize(rest, "more instruction"), "\n");
  return text;
}

Trace ProfileTrace(const RunProfile& profile) { return TraceOfLog(profile).Run(); }

}  // namespace shoal::internal
