#include "predict/timeline/simulated_step.h"

#include <algorithm>

#include "predict/timeline/simulation.h"

namespace shoal::internal {
namespace {

// Sweeps over the classes until none arrives anywhere at another time; a pipeline needs few more than two.
constexpr int kMaxSweeps = 12;
constexpr double kMaxSteps = 4e6;  // of all sweeps together

double StepsOf(const DevicePlan& plan) {
  double steps = 1;
  for (const auto& [computation, block] : plan.blocks) steps += static_cast<double>(block.size());
  return steps;
}

// The events of another class, on a process of its own.
void Append(const Trace& more, Trace& all) {
  const size_t first = all.events.size();
  const auto device = static_cast<uint32_t>(all.devices.size());
  for (const std::string& name : more.devices) all.devices.push_back(name);
  for (const TraceEvent& event : more.events) {
    all.events.push_back(event);
    all.events.back().device += device;
  }
  for (const TraceFlow& flow : more.flows) all.flows.push_back({flow.from + first, flow.to + first});
}

// The class that takes longest stands for the step; the timeline has them all.
SimulatedStep Together(std::vector<SimulatedStep> each, const DeviceClasses& classes) {
  const auto longest = static_cast<size_t>(std::max_element(each.begin(), each.end(), [](const SimulatedStep& a, const SimulatedStep& b) {
                         return a.step_seconds < b.step_seconds;
                       }) - each.begin());
  std::vector<ClassTime> times;
  Trace trace;
  trace.source = each.front().trace.source;
  trace.streams = each.front().trace.streams;
  for (size_t c = 0; c < each.size(); ++c) {
    const SimulatedStep& one = each[c];
    times.push_back({classes.all[c].name, static_cast<double>(classes.all[c].devices.size()), one.step_seconds, one.device_seconds, one.kinds});
    Append(one.trace, trace);
  }
  SimulatedStep result = std::move(each[longest]);
  result.classes = std::move(times);
  result.slowest_class = longest;
  result.trace = std::move(trace);
  return result;
}

}  // namespace

std::string_view ToString(TimeKind kind) {
  constexpr std::string_view kNames[] = {"matrix", "memory", "communication", "copy", "idle"};
  return kNames[static_cast<size_t>(kind)];
}

SimulatedStep Predict(const DevicePlanInput& input) {
  auto plan = std::make_shared<const DevicePlan>(BuildDevicePlan(input));
  const DeviceClasses& classes = input.classes;
  SimulatedStep result;
  if (classes.alike()) {
    result = Simulate(input, *plan, classes, 0, nullptr);
    result.classes = {{classes.all[0].name, static_cast<double>(input.devices), result.step_seconds, result.device_seconds, result.kinds}};
  } else {
    Arrivals arrivals(classes);
    std::vector<SimulatedStep> each(classes.all.size());
    const double work = StepsOf(*plan) * static_cast<double>(classes.all.size());
    const int sweeps = static_cast<int>(std::clamp(kMaxSteps / work, 2.0, static_cast<double>(kMaxSweeps)));
    bool changed = true;
    for (int sweep = 0; sweep < sweeps && changed; ++sweep) {
      changed = false;
      for (size_t c = 0; c < each.size(); ++c) {
        each[c] = Simulate(input, *plan, classes, c, &arrivals);
        changed |= arrivals.changed(c);
      }
    }
    result = Together(std::move(each), classes);
  }
  for (const std::string& note : classes.notes) result.notes.push_back(note);
  result.plan = std::move(plan);
  return result;
}

}  // namespace shoal::internal
