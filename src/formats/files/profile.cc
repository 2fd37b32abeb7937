#include "formats/files/profile.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/base/source.h"
#include "core/base/strings.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {
namespace {

using Json = nlohmann::json;

std::string StringIn(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

double NumberIn(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

// The process to read: the first device, else the first process that is not the host.
std::optional<int64_t> DeviceProcess(const Json& events) {
  std::map<int64_t, std::string> names;
  for (const Json& event : events)
    if (StringIn(event, "name") == "process_name" && event.contains("args"))
      names[static_cast<int64_t>(NumberIn(event, "pid"))] = StringIn(event["args"], "name");
  for (const auto& [pid, name] : names)
    if (name.find("/device:") != std::string::npos) return pid;
  for (const auto& [pid, name] : names)
    if (name.find("host") == std::string::npos) return pid;
  return std::nullopt;
}

// The threads of a process that contain ops: streams, or the ops line of a TPU. Other threads (steps, modules, scopes)
// repeat the same events. Empty if no thread has a known name; then all threads count.
std::set<int64_t> OpThreads(const Json& events, std::optional<int64_t> device) {
  std::set<int64_t> threads;
  for (const Json& event : events) {
    if (StringIn(event, "name") != "thread_name" || !event.contains("args")) continue;
    if (device && static_cast<int64_t>(NumberIn(event, "pid")) != *device) continue;
    const std::string name = StringIn(event["args"], "name");
    if (name.find("Stream") != std::string::npos || name == "XLA Ops") threads.insert(static_cast<int64_t>(NumberIn(event, "tid")));
  }
  return threads;
}

// The instruction name of an event, under any key that profilers use.
std::string InstructionNameOf(const Json& event) {
  if (!event.contains("args")) return "";
  for (const char* key : {"hlo_op", "hlo_name", "instruction"})
    if (std::string op = StringIn(event["args"], key); !op.empty()) return op;
  return "";
}

void SortByStart(Trace& trace) {
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
}

}  // namespace

Result<Trace> ReadChromeTrace(std::string_view text, const std::string& path) {
  const Json all = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Json* events = nullptr;
  if (all.is_object() && all.contains("traceEvents")) events = &all["traceEvents"];
  if (all.is_array()) events = &all;
  if (events == nullptr || !events->is_array()) return Fail(StrCat(path, ": not a trace: no traceEvents found"));
  const std::optional<int64_t> device = DeviceProcess(*events);
  const std::set<int64_t> threads = OpThreads(*events, device);
  Trace trace;
  trace.source = path;
  trace.devices = {"measured"};
  trace.streams = {"kernels"};
  for (const Json& event : *events) {
    if (StringIn(event, "ph") != "X" || (device && static_cast<int64_t>(NumberIn(event, "pid")) != *device)) continue;
    // In traces that shoal writes, these events are not ops.
    if (const std::string kind = StringIn(event, "cat"); kind == "idle" || kind == "exposed" || kind == "loop") continue;
    if (!threads.empty() && !threads.contains(static_cast<int64_t>(NumberIn(event, "tid")))) continue;
    TraceEvent trace_event;
    const std::string op = InstructionNameOf(event);
    const bool is_command_buffer = op.rfind("command_buffer", 0) == 0;
    trace_event.name = op.empty() || is_command_buffer ? StringIn(event, "name") : op;
    trace_event.category = StringIn(event, "name");
    trace_event.start = NumberIn(event, "ts") * 1e-6;
    trace_event.duration = NumberIn(event, "dur") * 1e-6;
    trace.events.push_back(std::move(trace_event));
  }
  if (trace.events.empty()) return Fail(StrCat(path, ": the trace has no device events"));
  SortByStart(trace);
  return trace;
}

Result<Trace> ReadProfile(const std::string& path) {
  SHOAL_ASSIGN(source, Source::Read(path));
  const std::string_view text = source->text();
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return ReadChromeTrace(text, path);
  Result<Trace> trace = ReadXplane(text, path);
  if (trace.ok()) SortByStart(*trace);
  return trace;
}

}  // namespace shoal::internal
