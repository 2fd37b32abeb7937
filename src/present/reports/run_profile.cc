#include "present/reports/run_profile.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "analyze/cost/cost.h"
#include "analyze/facts/participants.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/common_attrs.h"
#include "core/ir/source_location.h"
#include "core/ops/families.h"
#include "present/reports/table.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

constexpr size_t kTopSteps = 20;
constexpr uint32_t kStepStream = 0, kWaitStream = 1;

using Costs = std::unordered_map<const Instruction*, Cost>;

// Also of what stands inside a fusion: a library's is run op by op.
Costs CostsOnce(const Module& module) {
  Costs costs;
  XlaCost xla;
  // Callees first, so that however deep they nest, none is priced from within another.
  const std::vector<const Computation*> order = CallGraph(module).ReachableFromEntry();
  for (auto computation = order.rbegin(); computation != order.rend(); ++computation) {
    xla.Of(**computation);
    for (const Instruction* hlo : (*computation)->instructions) costs[hlo] = CostOf(*hlo, xla);
  }
  return costs;
}

std::string ShareText(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

// "41.2 (25 %)", in billions, and of what the machine reaches.
std::string Rate(double amount, double seconds, double peak) {
  if (amount <= 0 || seconds <= 0) return "-";
  char text[48];
  std::snprintf(text, sizeof text, "%.3g (%.0f %%)", amount / seconds / 1e9, 100 * amount / seconds / peak);
  return text;
}

std::string ComesFrom(const Instruction& hlo, const Module& module) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr) return "";
  const std::string place = FormatSourceLocation(*metadata, module.stack_frames);
  return StrCat(metadata->op_name, !metadata->op_name.empty() && !place.empty() ? ", " : "", place);
}

const char* CategoryOf(const Instruction& hlo) {
  if (IsCommunication(hlo)) return "communication";
  return Info(hlo.opcode).op_class == OpClass::kContraction ? "matrix" : "memory";
}

// The n-th time that devices came to an instruction: which event that is on each of them.
using Meeting = std::vector<size_t>;  // events of devices; SIZE_MAX where a device did not come

class TraceOfLog {
 public:
  explicit TraceOfLog(const RunProfile& profile)
      : profile_(profile), costs_(CostsOnce(*profile.module)), memberships_(profile.grid) {}

  Trace Run() {
    trace_.source = StrCat("shoal run ", profile_.file);
    trace_.streams = {"steps", "waiting"};
    for (int64_t d = 0; d < profile_.log->devices(); ++d) {
      trace_.devices.push_back(StrCat("device ", d));
      AddSteps(d);
    }
    for (const auto& [hlo, meetings] : meetings_)
      for (const Meeting& meeting : meetings) AddMeeting(*hlo, meeting);
    return std::move(trace_);
  }

 private:
  void AddSteps(int64_t device) {
    std::vector<StepLog::StepSpan> steps = profile_.log->steps(device);
    std::stable_sort(steps.begin(), steps.end(),
                     [](const StepLog::StepSpan& a, const StepLog::StepSpan& b) { return a.start < b.start; });
    std::unordered_map<const Instruction*, size_t> times;
    std::unordered_map<const Instruction*, size_t> last;  // event of each instruction
    for (const StepLog::StepSpan& step : steps) {
      const size_t number = trace_.events.size();
      trace_.events.push_back(EventOf(step, device));
      last[step.hlo] = number;
      if (!IsCommunication(*step.hlo)) continue;
      // A done ends what its operand has begun; anything else is a meeting.
      if (step.hlo->operand_count() == 1 && IsCommunication(*step.hlo->operands[0]) && last.contains(step.hlo->operands[0])) {
        trace_.flows.push_back({last[step.hlo->operands[0]], number});
        continue;
      }
      std::vector<Meeting>& meetings = meetings_[step.hlo];
      const size_t time = times[step.hlo]++;
      if (meetings.size() <= time) meetings.resize(time + 1, Meeting(static_cast<size_t>(profile_.log->devices()), SIZE_MAX));
      meetings[time][static_cast<size_t>(device)] = number;
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
    if (const std::string from = ComesFrom(*step.hlo, *profile_.module); !from.empty())
      event.details.emplace_back("from", from);
    if (auto cost = costs_.find(step.hlo); cost != costs_.end() && event.duration > 0) {
      if (cost->second.flops > 0) event.details.emplace_back("GFLOP/s", StrCat(cost->second.flops / event.duration / 1e9));
      event.details.emplace_back("GB/s", StrCat(cost->second.bytes() / event.duration / 1e9));
    }
    return event;
  }

  // Of those in one group: everybody waits for the last to come.
  void AddMeeting(const Instruction& hlo, const Meeting& meeting) {
    const Participants& membership = memberships_.Of(hlo);
    if (membership.groups.empty() || !membership.mismatch.empty()) return;
    for (const DeviceGroup& group : membership.groups) {
      size_t last = SIZE_MAX;
      for (int64_t device : group) {
        const size_t event = device < std::ssize(meeting) ? meeting[static_cast<size_t>(device)] : SIZE_MAX;
        if (event != SIZE_MAX && (last == SIZE_MAX || trace_.events[event].start > trace_.events[last].start)) last = event;
      }
      if (last == SIZE_MAX) continue;
      for (int64_t device : group) {
        const size_t event = device < std::ssize(meeting) ? meeting[static_cast<size_t>(device)] : SIZE_MAX;
        if (event != SIZE_MAX && event != last) AddWait(event, last);
      }
    }
  }

  void AddWait(size_t event, size_t last) {
    trace_.flows.push_back({last, event});
    const TraceEvent waits = trace_.events[event];
    const double until = std::min(trace_.events[last].start, waits.start + waits.duration);
    if (until <= waits.start) return;
    TraceEvent idle;
    idle.name = StrCat("waits in ", waits.name, " for device ", trace_.events[last].device);
    idle.device = waits.device;
    idle.stream = kWaitStream;
    idle.start = waits.start;
    idle.duration = until - waits.start;
    idle.category = "idle";
    trace_.events.push_back(std::move(idle));
  }

  const RunProfile& profile_;
  Costs costs_;
  ParticipantTable memberships_;
  Trace trace_;
  std::map<const Instruction*, std::vector<Meeting>> meetings_;
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
  std::string text = StrCat(Pluralize(std::ssize(steps), "step"), " took ", Seconds(all), " on ",
                            profile.grid.count() == 1 ? "1 device" : StrCat(profile.grid.count(), " devices together"),
                            "; this machine reaches ", FormatSi(profile.peak_flops), "FLOP/s in f32 and ",
                            FormatSi(profile.peak_bytes), "B/s\n");
  Table table({{"step", ElideMode::kRight, 2}, {"op", ElideMode::kRight, 3}, Column("time").Right(), Column("share").Right(),
               Column("times").Right(), Column("GFLOP/s").Right(), Column("GB/s").Right(),
               Column("comes from", ElideMode::kLeft, 1).Droppable()});
  for (size_t i = 0; i < steps.size() && i < kTopSteps; ++i) {
    const auto& [hlo, total] = steps[i];
    const auto found = costs.find(hlo);
    const Cost cost = found == costs.end() ? Cost() : found->second;
    const auto times = static_cast<double>(total.times);
    table.Add({std::string(hlo->name), std::string(Text(hlo->opcode)), Seconds(total.seconds),
               ShareText(all > 0 ? total.seconds / all : 0), StrCat(total.times),
               Rate(cost.flops * times, total.seconds, profile.peak_flops),
               Rate(cost.bytes() * times, total.seconds, profile.peak_bytes), ComesFrom(*hlo, *profile.module)});
  }
  text += table.ToText(style);
  if (steps.size() > kTopSteps) StrAppend(&text, "… and ", Pluralize(std::ssize(steps) - static_cast<int64_t>(kTopSteps), "more step"), "\n");
  return text;
}

Trace ProfileTrace(const RunProfile& profile) { return TraceOfLog(profile).Run(); }

}  // namespace shoal::internal
