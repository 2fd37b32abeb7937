// Writes Chrome trace events, which Perfetto reads: complete events ("X") in microseconds, metadata ("M") for names,
// flows ("s", "f") for arrows.
#include "present/reports/json.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

Json NameEvent(const char* type, size_t process, size_t thread, const std::string& name) {
  return {{"ph", "M"}, {"name", type}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json CompleteEvent(const TraceEvent& event) {
  Json args = Json::object();
  for (const auto& [name, value] : event.details) args[name] = value;
  args["us"] = event.duration * 1e6;
  if (event.times != 1) args["times"] = event.times;
  return {{"ph", "X"},
          {"name", event.name},
          {"cat", event.category},
          {"pid", event.device},
          {"tid", event.stream},
          {"ts", event.start * 1e6},
          {"dur", event.duration * 1e6},
          {"args", std::move(args)}};
}

}  // namespace

std::string TraceJson(const Trace& trace) {
  Json events = Json::array();
  for (size_t d = 0; d < trace.devices.size(); ++d) {
    events.push_back(NameEvent("process_name", d, 0, trace.devices[d]));
    for (size_t s = 0; s < trace.streams.size(); ++s) events.push_back(NameEvent("thread_name", d, s, trace.streams[s]));
  }
  for (const TraceEvent& event : trace.events) events.push_back(CompleteEvent(event));
  for (size_t i = 0; i < trace.flows.size(); ++i) {
    const TraceEvent& from = trace.events[trace.flows[i].from];
    const TraceEvent& to = trace.events[trace.flows[i].to];
    events.push_back({{"ph", "s"}, {"name", "done"}, {"cat", "async"}, {"id", i}, {"pid", from.device}, {"tid", from.stream},
                      {"ts", from.start * 1e6}});
    events.push_back({{"ph", "f"}, {"bp", "e"}, {"name", "done"}, {"cat", "async"}, {"id", i}, {"pid", to.device}, {"tid", to.stream},
                      {"ts", (to.start + to.duration) * 1e6}});
  }
  const Json all = {{"displayTimeUnit", "ns"}, {"otherData", {{"source", trace.source}}}, {"traceEvents", std::move(events)}};
  return JsonText(all, -1);
}

}  // namespace shoal::internal
