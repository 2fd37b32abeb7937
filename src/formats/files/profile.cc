#include "formats/files/profile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "core/base/source.h"
#include "core/base/strings.h"
#include "formats/files/profile_events.h"

namespace shoal::internal {
namespace {

// The members of a trace event that matter.
struct ChromeEvent {
  std::string phase, name, category, argument_name, instruction;
  double process = 0, thread = 0, start = 0, duration = 0;
};

// Reads the arguments of an event: the instruction's name, under any key that profilers use, and the name of a process.
void ReadArguments(JsonReader& reader, ChromeEvent& event) {
  if (reader.Peek() != JsonReader::Kind::kObject) return reader.Skip();
  std::string names[3];
  for (reader.EnterObject(); reader.NextKey();) {
    const std::string& key = reader.text();
    if (key == "name") event.argument_name = reader.TakeString();
    else if (key == "hlo_op") names[0] = reader.TakeString();
    else if (key == "hlo_name") names[1] = reader.TakeString();
    else if (key == "instruction") names[2] = reader.TakeString();
    else reader.Skip();
  }
  for (std::string& name : names)
    if (event.instruction.empty()) event.instruction = std::move(name);
}

ChromeEvent ReadChromeEvent(JsonReader& reader) {
  ChromeEvent event;
  if (reader.Peek() != JsonReader::Kind::kObject) {
    reader.Skip();
    return event;
  }
  for (reader.EnterObject(); reader.NextKey();) {
    const std::string& key = reader.text();
    if (key == "ph") event.phase = reader.TakeString();
    else if (key == "name") event.name = reader.TakeString();
    else if (key == "cat") event.category = reader.TakeString();
    else if (key == "args") ReadArguments(reader, event);
    else if (key == "pid") event.process = reader.TakeNumber();
    else if (key == "tid") event.thread = reader.TakeNumber();
    else if (key == "ts") event.start = reader.TakeNumber() * 1e-6;
    else if (key == "dur") event.duration = reader.TakeNumber() * 1e-6;
    else reader.Skip();
  }
  return event;
}

// Calls `visit` for each event. Fails if the text is not a trace.
Status ForEachEvent(std::string_view text, const std::function<Status(ChromeEvent& event)>& visit) {
  JsonReader reader(text);
  const auto visit_all = [&]() -> Status {
    for (reader.EnterArray(); reader.NextElement();) {
      ChromeEvent event = ReadChromeEvent(reader);
      if (reader.ok()) SHOAL_TRY(visit(event));
    }
    return {};
  };
  bool is_trace = reader.Peek() == JsonReader::Kind::kArray;
  if (is_trace) {
    SHOAL_TRY(visit_all());
  } else if (reader.Peek() == JsonReader::Kind::kObject) {
    for (reader.EnterObject(); reader.NextKey();) {
      const bool is_events = reader.text() == "traceEvents" && reader.Peek() == JsonReader::Kind::kArray;
      is_trace |= is_events;
      if (is_events) SHOAL_TRY(visit_all());
      else reader.Skip();
    }
  }
  reader.ExpectEnd();
  if (!reader.ok()) return Fail(reader.error());
  return is_trace ? Status() : Status(Fail("is not a trace: no traceEvents found"));
}

// The processes and threads of a trace whose events are read.
class Selection {
 public:
  void Add(const ChromeEvent& event) {
    if (event.name == "process_name") names_[event.process] = event.argument_name;
    if (event.name != "thread_name") return;
    const std::string& name = event.argument_name;
    if (name.find("Stream") != std::string::npos || name == "XLA Ops") threads_.emplace(event.process, event.thread);
  }

  // Chooses the process: the first device, else the first process that is not the host. Within it, chooses the threads
  // that contain ops: streams, or the ops line of a TPU. Other threads (steps, modules, scopes) repeat the same events.
  // If no thread has a known name, all threads count.
  void Choose() {
    for (const auto& [process, name] : names_)
      if (!device_ && name.find("/device:") != std::string::npos) device_ = process;
    for (const auto& [process, name] : names_)
      if (!device_ && name.find("host") == std::string::npos) device_ = process;
    for (const auto& [process, thread] : threads_)
      if (!device_ || process == *device_) chosen_.insert(thread);
  }

  bool Has(const ChromeEvent& event) const {
    if (event.phase != "X" || (device_ && event.process != *device_)) return false;
    // In traces that shoal writes, these events are not ops.
    if (event.category == "idle" || event.category == "exposed" || event.category == "loop") return false;
    return chosen_.empty() || chosen_.contains(event.thread);
  }

 private:
  std::map<double, std::string> names_;           // of the processes
  std::set<std::pair<double, double>> threads_;   // process and thread
  std::optional<double> device_;
  std::set<double> chosen_;
};

void SortByStart(Trace& trace) {
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
}

}  // namespace

// Each event needs more than 100 bytes of memory.
constexpr size_t kMaxEvents = 5'000'000;
// Profilers count from the start of the machine or from 1970.
constexpr double kMaxSeconds = 1e11;

Status AddEvent(Trace& trace, TraceEvent event) {
  const bool is_time = event.duration >= 0 && event.duration <= kMaxSeconds && std::fabs(event.start) <= kMaxSeconds;
  if (!is_time)
    return Fail(StrCat("has the event '", EscapeName(event.name), "' with the duration ", event.duration,
                       " s at ", event.start, " s; a duration must not be negative, and times must be at most ", kMaxSeconds, " s"));
  if (trace.events.size() == kMaxEvents) return Fail(StrCat("has more than ", kMaxEvents, " device events"));
  trace.events.push_back(std::move(event));
  return {};
}

Result<Trace> ReadChromeTrace(std::string_view text, const std::string& path) {
  // The names of processes and threads may follow the events, so the text is read twice.
  Selection selection;
  const auto named = [&](const Status& status) { return Fail(StrCat(EscapeName(path), " ", status.diag().message)); };
  Status read = ForEachEvent(text, [&](ChromeEvent& event) -> Status {
    selection.Add(event);
    return {};
  });
  if (!read.ok()) return named(read);
  selection.Choose();
  Trace trace;
  trace.source = path;
  trace.devices = {"measured"};
  trace.streams = {"kernels"};
  read = ForEachEvent(text, [&](ChromeEvent& event) -> Status {
    if (!selection.Has(event)) return {};
    const bool is_command_buffer = event.instruction.starts_with("command_buffer");
    TraceEvent trace_event;
    trace_event.name = event.instruction.empty() || is_command_buffer ? event.name : std::move(event.instruction);
    trace_event.category = std::move(event.name);
    trace_event.start = event.start;
    trace_event.duration = event.duration;
    return AddEvent(trace, std::move(trace_event));
  });
  if (!read.ok()) return named(read);
  if (trace.events.empty()) return Fail(StrCat(EscapeName(path), ": the trace has no device events"));
  SortByStart(trace);
  return trace;
}

Result<Trace> ReadProfile(const std::string& path) {
  Result<std::unique_ptr<Source>> source = Source::Read(path);
  if (!source.ok())
    return Fail({}, source.diag().rule, StrCat("cannot read ", EscapeName(path), ": ", source.diag().message));
  const std::string_view text = (*source)->text();
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return ReadChromeTrace(text, path);
  Result<Trace> trace = ReadXplane(text, path);
  if (trace.ok()) SortByStart(*trace);
  return trace;
}

}  // namespace shoal::internal
