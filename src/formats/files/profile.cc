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

std::string TextIn(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

double NumberIn(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

// The process to look at: the first that is a device, or the only one there is.
std::optional<int64_t> DeviceProcess(const Json& events) {
  std::map<int64_t, std::string> names;
  for (const Json& event : events)
    if (TextIn(event, "name") == "process_name" && event.contains("args"))
      names[static_cast<int64_t>(NumberIn(event, "pid"))] = TextIn(event["args"], "name");
  for (const auto& [pid, name] : names)
    if (name.find("/device:") != std::string::npos) return pid;
  for (const auto& [pid, name] : names)
    if (name.find("host") == std::string::npos) return pid;
  return std::nullopt;
}

// The threads of a process that hold ops: streams, or the line of ops of a TPU. What else there is (steps, modules, scopes)
// says the same again. Empty: no thread says what it is, and all count.
std::set<int64_t> OpThreads(const Json& events, std::optional<int64_t> device) {
  std::set<int64_t> threads;
  for (const Json& event : events) {
    if (TextIn(event, "name") != "thread_name" || !event.contains("args")) continue;
    if (device && static_cast<int64_t>(NumberIn(event, "pid")) != *device) continue;
    const std::string name = TextIn(event["args"], "name");
    if (name.find("Stream") != std::string::npos || name == "XLA Ops") threads.insert(static_cast<int64_t>(NumberIn(event, "tid")));
  }
  return threads;
}

// The instruction an event is about, as profilers say it.
std::string OpIn(const Json& event) {
  if (!event.contains("args")) return "";
  for (const char* key : {"hlo_op", "hlo_name", "instruction"})
    if (std::string op = TextIn(event["args"], key); !op.empty()) return op;
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
  if (events == nullptr || !events->is_array()) return Fail(StrCat(path, ": no trace: it has no traceEvents"));
  const std::optional<int64_t> device = DeviceProcess(*events);
  const std::set<int64_t> threads = OpThreads(*events, device);
  Trace trace;
  trace.source = path;
  trace.devices = {"measured"};
  trace.streams = {"kernels"};
  for (const Json& event : *events) {
    if (TextIn(event, "ph") != "X" || (device && static_cast<int64_t>(NumberIn(event, "pid")) != *device)) continue;
    // Of a trace of ours: waiting is no op.
    if (const std::string kind = TextIn(event, "cat"); kind == "idle" || kind == "exposed" || kind == "loop") continue;
    if (!threads.empty() && !threads.contains(static_cast<int64_t>(NumberIn(event, "tid")))) continue;
    TraceEvent one;
    const std::string op = OpIn(event);
    const bool whole_graph = op.rfind("command_buffer", 0) == 0;
    one.name = op.empty() || whole_graph ? TextIn(event, "name") : op;
    one.category = TextIn(event, "name");
    one.start = NumberIn(event, "ts") * 1e-6;
    one.duration = NumberIn(event, "dur") * 1e-6;
    trace.events.push_back(std::move(one));
  }
  if (trace.events.empty()) return Fail(StrCat(path, ": no trace: nothing ran on a device"));
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
