// A trace as a section: lanes of slices, with their instructions and kinds, and arrows from starts to waits.
#include "present/page/page_trace.h"

#include <algorithm>
#include <map>

#include "analyze/summary/work_kind.h"
#include "nlohmann/json.hpp"
#include "predict/timeline/critical_path.h"

namespace shoal::internal {
namespace {

// The kind of an event that has no instruction, derived from its category.
WorkKind KindOf(const TraceEvent& event) {
  static const std::map<std::string, WorkKind> kKinds = {
      {"matrix", WorkKind::kGemm}, {"memory", WorkKind::kElementwise}, {"communication", WorkKind::kCollective},
      {"copy", WorkKind::kMove},      {"idle", WorkKind::kNone},          {"exposed", WorkKind::kNone}};
  auto found = kKinds.find(event.category);
  return found == kKinds.end() ? WorkKind::kControl : found->second;
}

// The events of a trace in lanes. The events of a lane do not overlap.
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
    constexpr double kTolerance = 1e-12;
    auto lane = std::find_if(all.begin(), all.end(), [&](const Lane& each) {
      return each.device == event.device && each.stream == event.stream && each.end <= event.start + kTolerance;
    });
    if (lane == all.end()) lane = all.insert(all.end(), Lane{event.device, event.stream, 0, {}});
    lane->end = event.start + event.duration;
    return *lane;
  }
};

struct Slice {
  const TraceEvent& event;
  int32_t instr;  // -1: none
  bool critical;
};

WorkKind KindOf(const Slice& slice, PageModule& page) {
  const WorkKind kind = KindOf(slice.event);
  return slice.instr < 0 || kind == WorkKind::kNone ? kind
                                                    : WorkKindOf(page.ids[static_cast<uint32_t>(slice.instr)], page.facts->fusion_works());
}

}  // namespace

void AddTrace(PageModule& page, const PageTrace& input, PageSection& section) {
  const Trace& trace = input.trace;
  // A prediction starts at 0, a profile at its first event.
  double first = input.predicted || trace.events.empty() ? 0 : trace.events[0].start;
  for (const TraceEvent& event : trace.events)
    if (!input.predicted) first = std::min(first, event.start);
  const std::vector<bool> critical = input.predicted ? CriticalPathOf(trace) : std::vector<bool>();
  const Lanes lanes(trace);
  std::vector<Slice> slices;
  std::vector<uint32_t> lane_end, slice_of(trace.events.size(), 0);
  for (const Lanes::Lane& lane : lanes.all) {
    for (size_t i : lane.events) {
      slice_of[i] = static_cast<uint32_t>(slices.size());
      slices.push_back({trace.events[i], input.instr_of(i), input.predicted && critical[i]});
    }
    lane_end.push_back(static_cast<uint32_t>(slices.size()));
  }
  std::vector<TraceFlow> flows;
  for (const TraceFlow& flow : trace.flows)
    if (std::max(flow.from, flow.to) < slice_of.size()) flows.push_back({slice_of[flow.from], slice_of[flow.to]});

  // Slices that represent the loop iterations after the two simulated ones.
  std::vector<uint32_t> loop_slice;
  for (uint32_t i = 0; input.predicted && i < slices.size(); ++i)
    if (slices[i].event.category == "loop") loop_slice.push_back(i);

  using Json = nlohmann::ordered_json;
  const Json about = {{"name", input.name},
                      {"predicted", input.predicted},
                      {"steps", input.steps},
                      {"devices", trace.devices},
                      {"streams", trace.streams}};
  StringTable labels;
  section.Add("json", std::vector<std::string>{about.dump(-1, ' ', false, Json::error_handler_t::replace)});
  section.AddOf("lane_device", lanes.all, [](const Lanes::Lane& lane) { return lane.device; });
  section.AddOf("lane_stream", lanes.all, [](const Lanes::Lane& lane) { return lane.stream; });
  section.Add("lane_end", lane_end);
  section.AddOf("start", slices, [&](const Slice& slice) { return slice.event.start - first; });
  section.AddOf("duration", slices, [](const Slice& slice) { return slice.event.duration; });
  section.AddOf("instr", slices, [](const Slice& slice) { return slice.instr; });
  section.AddOf("label", slices, [&](const Slice& slice) { return labels(slice.event.name); });
  section.AddOf("kind", slices, [&](const Slice& slice) { return static_cast<uint8_t>(KindOf(slice, page)); });
  if (input.predicted) section.AddOf("critical", slices, [](const Slice& slice) { return static_cast<uint8_t>(slice.critical); });
  section.AddOf("flow_from", flows, [](const TraceFlow& flow) { return static_cast<uint32_t>(flow.from); });
  section.AddOf("flow_to", flows, [](const TraceFlow& flow) { return static_cast<uint32_t>(flow.to); });
  section.Add("loop_slice", loop_slice);
  section.AddOf("loop_iterations", loop_slice, [&](uint32_t i) { return slices[i].event.times; });
  section.Add("labels", labels.all());
}

}  // namespace shoal::internal
