#include "present/reports/mem_report.h"

#include <algorithm>

#include "analyze/facts/execution_counts.h"
#include "analyze/facts/source_lines.h"
#include "analyze/memory/buffer_producer.h"
#include "analyze/memory/timeline.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/buffer_bytes.h"
#include "core/ops/op.h"
#include "present/reports/json.h"
#include "present/reports/plot.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

std::string SpaceName(int64_t space) {
  return space == kHostSpace ? StrCat("S(", space, ") host") : StrCat("S(", space, ")");
}

const char* KindName(LiveBuffer::Kind kind) {
  static constexpr const char* kNames[] = {"argument", "output", "constant", "temporary"};
  return kNames[static_cast<size_t>(kind)];
}

std::string BufferName(const LiveBuffer& buffer) {
  std::string name(buffer.hlo->name);
  return buffer.index.empty() ? name : name + ToString(buffer.index);
}

std::string InBytes(int64_t bytes) { return FormatBytes(static_cast<double>(bytes)); }

std::vector<std::string> SpaceRow(const std::string& name, const SpaceMemory& space) {
  return {name,
          InBytes(space.arguments),
          InBytes(space.outputs),
          InBytes(space.aliased),
          InBytes(space.constants),
          InBytes(space.temporaries),
          InBytes(space.peak)};
}

// The one-based position of the peak in the schedule.
size_t PeakStep(const ModuleMemory& memory) {
  for (size_t i = 0; i < memory.steps.size(); ++i)
    if (memory.steps[i] == memory.at_peak) return i + 1;
  return 0;
}

std::string LiveBuffersTable(const MemReport& report, const TextStyle& style) {
  const ModuleMemory& memory = report.facts->memory();
  Table table({{"buffer", ElideMode::kMiddle, 3, 16},
               "kind",
               ">bytes",
               Column("type", ElideMode::kRight, 2).Droppable(),
               Column("computed by", ElideMode::kMiddle, 3).Droppable(),
               {"source", ElideMode::kPath, 1}});
  BufferProducers producers(report.facts->module());
  size_t shown = 0;
  int64_t rest = 0;
  for (const LiveBuffer& buffer : memory.live_at_peak) {
    if (report.top > 0 && shown >= static_cast<size_t>(report.top)) {
      rest += buffer.bytes;
      continue;
    }
    ++shown;
    const Instruction* producer = producers.Of(buffer);
    table.Add({BufferName(buffer), KindName(buffer.kind), InBytes(buffer.bytes), ToString(*buffer.shape, true),
               producer == nullptr ? "" : std::string(producer->name),
               report.facts->sources().Of(producer == nullptr ? *buffer.hlo : *producer)});
  }
  if (rest > 0) table.Add({StrCat("(", memory.live_at_peak.size() - shown, " more)"), "", InBytes(rest), "", "", ""});
  return table.ToText(style);
}

constexpr size_t kMaxCandidates = 5;

// The residuals whose recomputation frees most bytes for the fewest flops.
std::string CandidatesText(const MemReport& report, const TextStyle& style) {
  if (report.candidates.empty()) return "";
  Table table({{"residual", ElideMode::kMiddle, 3, 16}, ">bytes freed", ">flops added", ">bytes/flop",
               {"computed by", ElideMode::kMiddle, 3}, {"source", ElideMode::kPath, 1}});
  for (size_t i = 0; i < report.candidates.size() && i < kMaxCandidates; ++i) {
    const RematerializationCandidate& each = report.candidates[i];
    table.Add({BufferName(*each.buffer), InBytes(each.buffer->bytes), FormatSi(each.flops),
               each.flops > 0 ? FormatSi(static_cast<double>(each.buffer->bytes) / each.flops) : "no flops",
               std::string(each.producer->name), report.facts->sources().Of(*each.producer)});
  }
  return StrCat("\nrematerialization candidates: residuals that the backward pass could recompute from its other inputs\n\n",
                table.ToText(style));
}

Json ToJson(const SpaceMemory& space) {
  return {{"arguments", space.arguments},
          {"outputs", space.outputs},
          {"aliased", space.aliased},
          {"constants", space.constants},
          {"temporaries", space.temporaries},
          {"live_temporaries", space.live},
          {"peak", space.peak}};
}

Json InstructionJson(const Instruction& hlo, const ModuleFacts& facts) {
  return {{"name", hlo.name},
          {"opcode", Text(hlo.opcode)},
          {"computation", hlo.parent->name},
          {"source", facts.sources().Of(hlo)}};
}

// The schedule steps of each loop, including its body and condition. Sorted by last step.
std::vector<PlotSpan> LoopSpans(const MemReport& report) {
  const std::vector<const Instruction*>& steps = report.facts->memory().steps;
  const ExecutionCounts& executions = report.facts->executions();
  absl::flat_hash_map<const Computation*, size_t> first;  // first step of a computation and its callees
  std::vector<PlotSpan> spans;
  for (size_t i = 0; i < steps.size(); ++i) {
    size_t start = i;
    for (const Computation* callee : ExecutedComputations(*steps[i]))
      if (auto found = first.find(callee); found != first.end()) start = std::min(start, found->second);
    auto [own, is_new] = first.try_emplace(steps[i]->parent, start);
    own->second = std::min(own->second, start);
    if (start == i || CallKindOf(*steps[i]) != CallKind::kLoop) continue;
    const TripCount* trips = executions.FindTripCount(*steps[i]);
    const std::string times = trips != nullptr && trips->known() ? StrCat(" × ", trips->count) : std::string();
    spans.push_back({start, i, StrCat(steps[i]->name, times)});
  }
  return spans;
}

// The peak, and the plot over the schedule.
std::string PeakText(const MemReport& report, const TextStyle& style) {
  const ModuleMemory& memory = report.facts->memory();
  const std::string source = report.facts->sources().Of(*memory.at_peak);
  const size_t peak = PeakStep(memory);
  return StrCat("\n", InBytes(memory.device.peak), " at the peak, at ", memory.at_peak->name,
                source.empty() ? "" : StrCat(" (", source, ")"), ", step ", peak, " of ", memory.steps.size(), "; ",
                InBytes(memory.device.live), " of temporaries are live there\n\n",
                BytesPlot(memory.live_bytes, peak - 1, LoopSpans(report), style.width), "\n");
}

std::vector<std::string> AssumptionsOf(const MemReport& report) {
  std::vector<std::string> all = report.facts->memory().assumptions;
  if (report.run) all.insert(all.end(), report.run->assumptions.begin(), report.run->assumptions.end());
  return all;
}

Json CandidatesJson(const MemReport& report) {
  Json all = Json::array();
  for (const RematerializationCandidate& each : report.candidates)
    all.push_back({{"name", each.buffer->hlo->name},
                   {"index", each.buffer->index},
                   {"bytes_freed", each.buffer->bytes},
                   {"flops_added", each.flops},
                   {"computed_by", InstructionJson(*each.producer, *report.facts)}});
  return all;
}

Json RunPeaksJson(const RunMemory& run) {
  Json peaks = Json::array();
  for (const RunPeak& peak : run.peaks)
    peaks.push_back({{"bytes", peak.bytes}, {"devices", peak.devices}, {"device", peak.device}});
  return peaks;
}

}  // namespace

bool MemReport::Fits() const { return !budget || DeviceBytes(facts->memory()) <= *budget; }

MemReport MemReportOf(const ModuleFacts& facts, const std::string& file, std::optional<int64_t> budget, int64_t top) {
  return {file, &facts, {}, budget, top, RematerializationCandidates(facts)};
}

std::string MemText(const MemReport& report, const TextStyle& style) {
  const ModuleMemory& memory = report.facts->memory();
  Table table({"memory", ">arguments", ">outputs", ">aliased", ">constants", ">temporaries", ">at peak"});
  if (memory.spaces.size() > 1)
    for (const SpaceMemory& space : memory.spaces) table.Add(SpaceRow(SpaceName(space.space), space));
  table.Add(SpaceRow("device", memory.device));
  std::string text =
      StrCat(table.ToText(style), "backend: ", ToString(memory.backend), " (", memory.backend_reason, ")\n");
  if (memory.at_peak != nullptr)
    StrAppend(&text, PeakText(report, style), LiveBuffersTable(report, style), CandidatesText(report, style));
  if (report.run)
    StrAppend(&text, "\nshoal run needs at most ", InBytes(report.run->peaks.front().bytes),
              " for the arrays of a device\n");
  text += NotesText(AssumptionsOf(report));
  if (report.budget)
    StrAppend(&text, "\n", report.Fits() ? "within the budget: needs " : "exceeds the budget: needs ",
              InBytes(DeviceBytes(memory)), " of ", InBytes(*report.budget), "\n");
  return WrapToWidth(text, style);
}

std::string MemJson(const MemReport& report) {
  const ModuleMemory& memory = report.facts->memory();
  Json spaces = Json::array(), live = Json::array(), live_bytes = Json::array(), budget;
  BufferProducers producers(report.facts->module());
  for (const SpaceMemory& space : memory.spaces) {
    Json one = {{"space", space.space}};
    one.update(ToJson(space));
    spaces.push_back(std::move(one));
  }
  for (const LiveBuffer& each : memory.live_at_peak) {
    if (report.top > 0 && std::ssize(live) >= report.top) break;
    Json one = InstructionJson(*each.hlo, *report.facts);
    one.update({{"index", each.index},
                {"kind", KindName(each.kind)},
                {"type", ToString(*each.shape, true)},
                {"bytes", each.bytes},
                {"space", each.space}});
    if (const Instruction* producer = producers.Of(each)) one["computed_by"] = InstructionJson(*producer, *report.facts);
    live.push_back(std::move(one));
  }
  constexpr size_t kMaxPoints = 400;
  for (const PlotPoint& point : Downsample(memory.live_bytes, kMaxPoints))
    live_bytes.push_back({{"step", point.at}, {"name", memory.steps[point.at]->name}, {"bytes", point.value}});
  if (report.budget)
    budget = {{"bytes", *report.budget}, {"needed", DeviceBytes(memory)}, {"fits", report.Fits()}};
  return JsonText({{"version", kJsonVersion},
                   {"file", report.file},
                   {"device", ToJson(memory.device)},
                   {"host", ToJson(memory.host)},
                   {"spaces", std::move(spaces)},
                   {"steps", memory.steps.size()},
                   {"backend", {{"name", ToString(memory.backend)}, {"reason", memory.backend_reason}}},
                   {"at_peak", memory.at_peak == nullptr ? Json() : InstructionJson(*memory.at_peak, *report.facts)},
                   {"live_at_peak", std::move(live)},
                   {"timeline", std::move(live_bytes)},
                   {"rematerialization", CandidatesJson(report)},
                   {"budget", std::move(budget)},
                   {"run_peak_bytes", report.run ? RunPeaksJson(*report.run) : Json()},
                   {"assumptions", AssumptionsOf(report)}});
}

}  // namespace shoal::internal
