#include "predict/timeline/simulated_step.h"

#include <algorithm>

#include "predict/timeline/simulation.h"

namespace shoal::internal {
namespace {

// Limit on sweeps over the classes. The sweeps usually end earlier, when no arrival time changes any more.
constexpr int kMaxSweeps = 12;
constexpr double kMaxOps = 4e6;  // limit on operations simulated in all sweeps

double NumberOfOps(const DevicePlan& plan) {
  double ops = 1;
  for (const auto& [computation, block] : plan.blocks) ops += static_cast<double>(block.size());
  return ops;
}

// Appends the events of another class as a separate device.
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

// Merges the results of all classes: returns the result of the slowest class, with the timelines of all classes.
SimulatedStep MergeClasses(std::vector<SimulatedStep> steps, const DeviceClasses& classes) {
  const auto slower = [](const SimulatedStep& a, const SimulatedStep& b) { return a.step_seconds < b.step_seconds; };
  const auto slowest = static_cast<size_t>(std::max_element(steps.begin(), steps.end(), slower) - steps.begin());
  std::vector<ClassTime> times;
  Trace trace;
  trace.source = steps.front().trace.source;
  trace.streams = steps.front().trace.streams;
  for (size_t c = 0; c < steps.size(); ++c) {
    const auto devices = static_cast<double>(classes.all[c].devices.size());
    times.push_back({classes.all[c].name, devices, steps[c].step_seconds, steps[c].device_seconds, steps[c].kinds});
    Append(steps[c].trace, trace);
  }
  SimulatedStep result = std::move(steps[slowest]);
  result.classes = std::move(times);
  result.slowest_class = slowest;
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
  const DeviceClasses& classes = input.facts.device_classes();
  SimulatedStep result;
  if (classes.is_uniform()) {
    result = Simulate(input, *plan, classes, 0, nullptr);
    result.classes = {{classes.all[0].name, static_cast<double>(input.devices), result.step_seconds, result.device_seconds, result.kinds}};
  } else {
    Arrivals arrivals(classes);
    std::vector<SimulatedStep> steps(classes.all.size());
    const double ops = NumberOfOps(*plan) * static_cast<double>(classes.all.size());
    const int sweeps = static_cast<int>(std::clamp(kMaxOps / ops, 2.0, static_cast<double>(kMaxSweeps)));
    bool changed = true;
    for (int sweep = 0; sweep < sweeps && changed; ++sweep) {
      changed = false;
      for (size_t c = 0; c < steps.size(); ++c) {
        steps[c] = Simulate(input, *plan, classes, c, &arrivals);
        changed |= arrivals.changed(c);
      }
    }
    result = MergeClasses(std::move(steps), classes);
  }
  for (const std::string& note : classes.notes) result.notes.push_back(note);
  result.plan = std::move(plan);
  return result;
}

}  // namespace shoal::internal
