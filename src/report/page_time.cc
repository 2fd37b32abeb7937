// The sections about time: what each instruction takes on the first machine, and traces, predicted and measured.
#include <algorithm>
#include <map>

#include "analysis/work_kind.h"
#include "nlohmann/json.hpp"
#include "report/page_module.h"

namespace shoal {
namespace {

// Instructions by name. Names of two computations may be equal: what runs by itself comes first.
class NamedInstructions {
 public:
  explicit NamedInstructions(const PageModule& page) {
    for (uint32_t id = 0; id < page.ids.size(); ++id) {
      auto [found, inserted] = ids_.try_emplace(page.ids[id].name, id);
      if (!inserted && !IsPricedByCaller(*page.ids[id].parent, page.executions.calls()) &&
          IsPricedByCaller(*page.ids[found->second].parent, page.executions.calls()))
        found->second = id;
    }
  }
  int32_t operator()(std::string_view name) const {
    auto found = ids_.find(name);
    return found == ids_.end() ? -1 : static_cast<int32_t>(found->second);
  }

 private:
  std::unordered_map<std::string_view, uint32_t> ids_;
};

// Where no instruction is known: what the trace says of the event.
WorkKind KindOf(const TraceEvent& event) {
  static const std::map<std::string, WorkKind> kKinds = {{"matrix", WorkKind::kProduct},
                                                         {"memory", WorkKind::kElementwise},
                                                         {"communication", WorkKind::kCollective},
                                                         {"copy", WorkKind::kMove},
                                                         {"idle", WorkKind::kNone}};
  auto found = kKinds.find(event.category);
  return found == kKinds.end() ? WorkKind::kControl : found->second;
}

// The events of a trace in lanes: in each, none begins before the last one ended.
class Lanes {
 public:
  explicit Lanes(const Trace& trace) {
    std::vector<size_t> order(trace.events.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const TraceEvent &x = trace.events[a], &y = trace.events[b];
      return std::tie(x.device, x.stream, x.start) < std::tie(y.device, y.stream, y.start);
    });
    for (size_t i : order) LaneFor(trace.events[i]).events.push_back(i);
  }

  struct Lane {
    uint32_t device = 0, stream = 0;
    double end = 0;
    std::vector<size_t> events;
  };
  std::vector<Lane> all;

 private:
  Lane& LaneFor(const TraceEvent& event) {
    constexpr double kAtOnce = 1e-12;
    auto lane = std::find_if(all.begin(), all.end(), [&](const Lane& each) {
      return each.device == event.device && each.stream == event.stream && each.end <= event.start + kAtOnce;
    });
    if (lane == all.end()) lane = all.insert(all.end(), Lane{event.device, event.stream, 0, {}});
    lane->end = event.start + event.duration;
    return *lane;
  }
};

void AddTrace(PageModule& page, const std::string& name, bool predicted, const Trace& trace,
              const NamedInstructions& named, PageSection& section) {
  std::vector<uint32_t> lane_device, lane_stream, lane_end, label, slice_of(trace.events.size(), 0), from, to;
  std::vector<double> start, duration;
  std::vector<int32_t> instr;
  std::vector<uint8_t> kind;
  StringTable labels;
  double first = predicted || trace.events.empty() ? 0 : trace.events[0].start;
  for (const TraceEvent& event : trace.events)
    if (!predicted) first = std::min(first, event.start);
  for (const Lanes::Lane& lane : Lanes(trace).all) {
    for (size_t i : lane.events) {
      const TraceEvent& event = trace.events[i];
      const int32_t id = named(event.name);
      slice_of[i] = static_cast<uint32_t>(start.size());
      start.push_back(event.start - first);
      duration.push_back(event.duration);
      instr.push_back(id);
      label.push_back(labels(event.name));
      const bool by_instr = id >= 0 && KindOf(event) != WorkKind::kNone;
      kind.push_back(static_cast<uint8_t>(
          by_instr ? WorkKindOf(page.ids[static_cast<uint32_t>(id)], page.works) : KindOf(event)));
    }
    lane_device.push_back(lane.device);
    lane_stream.push_back(lane.stream);
    lane_end.push_back(static_cast<uint32_t>(start.size()));
  }
  for (const TraceFlow& flow : trace.flows)
    if (std::max(flow.from, flow.to) < slice_of.size()) {
      from.push_back(slice_of[flow.from]);
      to.push_back(slice_of[flow.to]);
    }
  using Json = nlohmann::ordered_json;
  const Json about = {{"name", name}, {"predicted", predicted}, {"devices", trace.devices}, {"streams", trace.streams}};
  section.Add("json", std::vector<std::string>{about.dump(-1, ' ', false, Json::error_handler_t::replace)});
  section.Add("labels", labels.all());
  section.Add("lane_device", lane_device);
  section.Add("lane_stream", lane_stream);
  section.Add("lane_end", lane_end);
  section.Add("start", start);
  section.Add("duration", duration);
  section.Add("instr", instr);
  section.Add("label", label);
  section.Add("kind", kind);
  section.Add("flow_from", from);
  section.Add("flow_to", to);
}

}  // namespace

void AddTimeSections(PageModule& page, const std::string& prefix, PageSections& sections) {
  const NamedInstructions named(page);
  int number = 0;
  auto next = [&]() -> PageSection& { return sections.Add(prefix + "trace." + std::to_string(number++)); };
  for (const Forecast& forecast : page.forecasts)
    AddTrace(page, forecast.machine.name, true, forecast.prediction.trace, named, next());
  for (const auto& [name, trace] : page.measured) AddTrace(page, name, false, trace, named, next());
  if (page.forecasts.empty()) return;
  // What the step waits for: kernels, and collectives as far as nothing hides them.
  std::vector<double> seconds(page.ids.size(), 0), async_seconds(page.ids.size(), 0);
  const Prediction& prediction = page.forecasts.front().prediction;
  for (const OpTime& op : prediction.ops) seconds[page.ids(*op.hlo)] += op.seconds;
  for (const AsyncTime& time : prediction.asyncs) {
    seconds[page.ids(*time.async->start)] += time.exposed;
    async_seconds[page.ids(*time.async->start)] += time.seconds;
  }
  PageSection& section = sections.Add(prefix + "time");
  section.Add("seconds", seconds);
  section.Add("async_seconds", async_seconds);
}

}  // namespace shoal
