// Tools that answer questions about one module.
#include <algorithm>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "formats/files/dump_files.h"
#include "present/reports/time_report.h"
#include "serve/mcp/tools.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

json Integer(const char* description) { return {{"type", "integer"}, {"description", description}}; }
json Text(const char* description) { return {{"type", "string"}, {"description", description}}; }
json Number(const char* description) { return {{"type", "number"}, {"description", description}}; }
json Rows(const char* description) {
  return {{"type", "array"}, {"items", {{"type", "object"}}}, {"description", description}};
}

// Runs `answer` with the facts of the module at arguments.path.
template <class Answer>
auto WithFacts(Answer answer) {
  return [answer](const json& arguments, const ToolContext& context) -> ToolAnswer {
    const auto facts = context.modules.FactsOf(arguments.at("path"));
    if (const auto* error = std::get_if<std::string>(&facts)) return FailedAnswer(*error);
    return answer(std::get<api::Facts>(facts), arguments);
  };
}

std::string SourceOf(const api::Instruction& hlo) { return hlo.metadata().source; }

// ---- open
ToolAnswer OpenFolder(const std::string& path, const std::string& resolved) {
  Result<DumpFolder> folder = ReadDumpFolder(resolved);
  if (!folder.ok()) return FailedAnswer(folder.diag().message);
  json modules = json::array();
  std::string text = StrCat(path, ": ", Pluralize(std::ssize(folder->modules), "module"), "\n");
  for (const DumpedModule& module : folder->modules) {
    json stages = json::array();
    for (const DumpFile& file : module.files) stages.push_back({{"stage", file.stage}, {"path", file.path}});
    StrAppend(&text, module.name, ": ", Pluralize(module.Stages(), "stage"), "\n");
    modules.push_back({{"name", module.name}, {"bytes", module.Bytes()}, {"files", std::move(stages)}});
  }
  return {{{"kind", "folder"}, {"modules", std::move(modules)}}, text};
}

ToolAnswer Open(const json& arguments, const ToolContext& context) {
  const std::string path = arguments.at("path");
  Result<std::string> resolved = context.roots.Resolve(path);
  if (!resolved.ok()) return FailedAnswer(resolved.diag().message);
  if (context.roots.IsFolder(*resolved)) return OpenFolder(path, *resolved);
  const auto found = context.modules.FactsOf(path);
  if (const auto* error = std::get_if<std::string>(&found)) return FailedAnswer(*error);
  const api::Facts& facts = std::get<api::Facts>(found);
  const api::Module module = facts.module();
  const api::Totals totals = facts.totals();
  ToolAnswer answer;
  answer.structured = {{"kind", "module"},
                       {"name", module.name()},
                       {"devices", facts.devices().count},
                       {"devices_from", facts.devices().from},
                       {"scheduled", module.is_scheduled()},
                       {"computations", module.computations().size()},
                       {"warnings", module.warnings().size()},
                       {"result", module.result_shape().text}};
  StrAppend(&answer.text, module.name(), " on ", facts.devices().from, ": ", totals.computations, " computations, ",
            FormatSi(totals.flops), " flops per step\n");
  return answer;
}

// ---- overview
json CollectiveRow(const api::Collective& collective) {
  return {{"name", collective.instruction.name()},
          {"kind", collective.kind},
          {"axis", collective.axis},
          {"executions", collective.executions},
          {"payload_bytes", collective.payload_bytes},
          {"ring_bytes", collective.ring_bytes},
          {"ring_bytes_per_step", static_cast<double>(collective.ring_bytes) * collective.executions},
          {"async", collective.is_async},
          {"overlapped_flops", collective.overlapped_flops},
          {"source", SourceOf(collective.instruction)}};
}

// The collectives that move most bytes per step, first.
json RankedCollectives(const api::Facts& facts) {
  const auto collectives = facts.collectives();
  if (!collectives.ok()) return json::array();
  std::vector<const api::Collective*> ranked;
  for (const api::Collective& collective : collectives->all) ranked.push_back(&collective);
  std::stable_sort(ranked.begin(), ranked.end(), [](const api::Collective* a, const api::Collective* b) {
    return static_cast<double>(a->ring_bytes) * a->executions > static_cast<double>(b->ring_bytes) * b->executions;
  });
  json rows = json::array();
  for (const api::Collective* collective : ranked) rows.push_back(CollectiveRow(*collective));
  return rows;
}

ToolAnswer Overview(const api::Facts& facts, const json&) {
  const api::Totals totals = facts.totals();
  ToolAnswer answer;
  json loops = json::array();
  for (const api::Loop& loop : facts.loops()) {
    json row = {{"name", loop.loop.name()}, {"executions", loop.executions}, {"assumed", loop.is_assumed}};
    if (loop.trip_count) row["trip_count"] = *loop.trip_count;
    loops.push_back(std::move(row));
  }
  answer.structured = {{"name", facts.module().name()},
                       {"devices", facts.devices().count},
                       {"instructions", totals.instructions},
                       {"flops", totals.flops},
                       {"bytes", totals.bytes},
                       {"wire_bytes", totals.wire_bytes},
                       {"peak_memory", totals.peak_memory},
                       {"collectives_by_kind", totals.collectives_by_kind},
                       {"largest_collectives", RankedCollectives(facts)},
                       {"loops", std::move(loops)},
                       {"assumptions", facts.assumptions()}};
  StrAppend(&answer.text, facts.module().name(), " on ", facts.devices().from, ", per device and step: ",
            FormatSi(totals.flops), " flops, ", FormatBytes(totals.bytes), " of memory traffic, ",
            FormatBytes(totals.wire_bytes), " received from other devices, peak memory ",
            FormatBytes(totals.peak_memory), "\n");
  for (const auto& [kind, count] : totals.collectives_by_kind) StrAppend(&answer.text, kind, " × ", FormatSi(count), "\n");
  return answer;
}

// ---- outline
ToolAnswer Outline(const api::Facts& facts, const json& arguments) {
  api::OutlineOptions options;
  options.depth = arguments.value("depth", int64_t{0});
  options.names = true;
  options.inside_fusions = arguments.value("fusions", false);
  const std::string ops = arguments.value("ops", "important");
  using Ops = api::OutlineOptions::Ops;
  options.ops = ops == "all" ? Ops::kAll : ops == "communication" ? Ops::kCommunication
                : ops == "computation" ? Ops::kComputation : Ops::kImportant;
  const auto outline = facts.outline(options);
  if (!outline.ok()) return FailedAnswer(outline.error().ToText());
  ToolAnswer answer;
  answer.text = outline->ToText();
  json lines = json::array();
  for (size_t at = 0; at < answer.text.size();) {
    const size_t end = std::min(answer.text.find('\n', at), answer.text.size());
    lines.push_back(answer.text.substr(at, end - at));
    at = end + 1;
  }
  answer.structured = {{"lines", std::move(lines)}};
  answer.text = StrCat("the outline has ", answer.structured["lines"].size(), " lines\n");
  return answer;
}

// ---- collectives, cost, memory
ToolAnswer Collectives(const api::Facts& facts, const json& arguments) {
  api::CollectiveOptions options;
  options.devices_per_node = arguments.value("devices_per_node", int64_t{8});
  const auto collectives = facts.collectives(options);
  if (!collectives.ok()) return FailedAnswer(collectives.error().ToText());
  const json whole = json::parse(collectives->ToJson());
  ToolAnswer answer;
  answer.structured = {{"collectives", RankedCollectives(facts)}};
  for (const char* key : {"by_kind", "by_axis", "by_line"})
    if (whole.contains(key)) answer.structured[key] = whole[key];
  answer.text = collectives->ToText();
  return answer;
}

ToolAnswer Cost(const api::Facts& facts, const json& arguments) {
  api::CostOptions options;
  options.by = arguments.value("by", "op");
  const auto cost = facts.cost(options);
  if (!cost.ok()) return FailedAnswer(cost.error().ToText());
  const json whole = json::parse(cost->ToJson());
  ToolAnswer answer;
  answer.structured = {{"total", whole.at("total")}, {"by", options.by}, {"rows", whole.at("rows")}};
  answer.text = cost->ToText();
  return answer;
}

ToolAnswer Memory(const api::Facts& facts, const json& arguments) {
  api::MemoryOptions options;
  if (arguments.contains("budget_bytes")) options.budget = arguments["budget_bytes"].get<int64_t>();
  const auto memory = facts.memory(options);
  if (!memory.ok()) return FailedAnswer(memory.error().ToText());
  json live = json::array();
  for (const api::LiveBuffer& buffer : memory->live_at_peak)
    live.push_back({{"name", buffer.instruction.name()}, {"kind", buffer.kind}, {"bytes", buffer.bytes},
                    {"type", buffer.instruction.shape().text}, {"source", SourceOf(buffer.instruction)}});
  ToolAnswer answer;
  answer.structured = {{"device_bytes", memory->device_bytes},     {"peak_bytes", memory->peak_bytes},
                       {"argument_bytes", memory->argument_bytes}, {"output_bytes", memory->output_bytes},
                       {"constant_bytes", memory->constant_bytes}, {"temporary_bytes", memory->temporary_bytes},
                       {"backend", memory->backend},               {"live_at_peak", std::move(live)}};
  if (options.budget) answer.structured["fits"] = memory->device_bytes <= *options.budget;
  answer.text = memory->ToText();
  return answer;
}

// ---- predict
ToolAnswer PredictTime(const api::Facts& facts, const json& arguments) {
  api::Result<api::Machine> machine = api::Machine::Load(arguments.at("machine"));
  if (!machine.ok()) return FailedAnswer(machine.error().ToText());
  for (const json& assignment : arguments.value("set", json::array()))
    if (const api::Status set = machine->Set(assignment.get<std::string>()); !set.ok())
      return FailedAnswer(set.error().ToText());
  const auto prediction = api::Predict(facts, *machine);
  if (!prediction.ok()) return FailedAnswer(prediction.error().ToText());
  json ops = json::array(), transfers = json::array();
  for (const api::PredictedOp& op : prediction->ops)
    ops.push_back({{"name", op.instruction.name()}, {"kind", op.kind}, {"seconds", op.seconds},
                   {"executions", op.executions}, {"source", SourceOf(op.instruction)}});
  for (const api::PredictedTransfer& transfer : prediction->transfers)
    transfers.push_back({{"name", transfer.instruction.name()}, {"seconds", transfer.seconds},
                         {"exposed_seconds", transfer.exposed_seconds}, {"executions", transfer.executions}});
  ToolAnswer answer;
  answer.structured = {{"machine", prediction->machine},
                       {"step_seconds", prediction->step_seconds},
                       {"matrix_seconds", prediction->matrix_seconds},
                       {"memory_seconds", prediction->memory_seconds},
                       {"communication_seconds", prediction->communication_seconds},
                       {"copy_seconds", prediction->copy_seconds},
                       {"idle_seconds", prediction->idle_seconds},
                       {"model_flops_utilization", prediction->model_flops_utilization},
                       {"ops", std::move(ops)},
                       {"transfers", std::move(transfers)},
                       {"warnings", prediction->warnings}};
  answer.text = prediction->ToText();
  return answer;
}

// ---- check
ToolAnswer Check(const json& arguments, const ToolContext& context) {
  ToolAnswer answer;
  json rows = json::array();
  const auto add = [&](const api::Diag& diag) {
    rows.push_back({{"severity", diag.severity == api::Severity::kError ? "error" : "warning"}, {"rule", diag.rule},
                    {"message", diag.message}, {"line", diag.at.line}, {"column", diag.at.column}});
  };
  const auto module = context.modules.ModuleOf(arguments.at("path"));
  if (const auto* error = std::get_if<std::string>(&module)) {
    // A module that cannot be read is an answer of this tool.
    answer.structured = {{"ok", false}, {"diagnostics", json::array({{{"severity", "error"}, {"message", *error}}})}};
    answer.text = *error;
    return answer;
  }
  const auto verified = api::Verify(std::get<api::Module>(module));
  if (!verified.ok()) return FailedAnswer(verified.error().ToText());
  bool ok = true;
  for (const api::Diag& diag : *verified) {
    add(diag);
    ok = ok && diag.severity != api::Severity::kError;
    StrAppend(&answer.text, diag.at.line, ":", diag.at.column, ": ", diag.message,
              diag.rule.empty() ? "" : StrCat(" [", diag.rule, "]"), "\n");
  }
  for (const api::Diag& diag : std::get<api::Module>(module).warnings()) add(diag);
  answer.structured = {{"ok", ok}, {"diagnostics", std::move(rows)}};
  if (ok) answer.text = "ok\n";
  return answer;
}

}  // namespace

ToolAnswer FailedAnswer(std::string text) { return {json::object(), std::move(text), true}; }

json PathArgument(const char* description) { return {{"type", "string"}, {"description", description}}; }

std::vector<Tool> ModuleTools() {
  const json path = PathArgument("HLO text, StableHLO or a protobuf, optionally gzipped");
  return {
      {"open", "Open a module or dump folder",
       "Reads a module, or lists the modules of an XLA dump folder with their compilation stages.",
       {{"path", PathArgument("A module, or a folder written by --xla_dump_to")}}, {"path"},
       {{"kind", Text("module or folder")}, {"modules", Rows("Of a folder: name, bytes, files of each stage")}},
       "modules", false, Open},
      {"overview", "Overview of a module",
       "Totals per device and step, loops with trip counts, and the largest collectives. Call this first.",
       {{"path", path}}, {"path"},
       {{"flops", Number("Per device and step")}, {"wire_bytes", Number("Received by a device per step")},
        {"peak_memory", Number("Bytes")}, {"largest_collectives", Rows("By bytes per step")}, {"loops", Rows("All loops")}},
       "largest_collectives", false, WithFacts(Overview)},
      {"outline", "Execution outline",
       "The tree of loops, branches, calls and important ops, as lines of text. Repeated layers are folded.",
       {{"path", path},
        {"ops", {{"type", "string"}, {"enum", {"important", "communication", "computation", "all"}}}},
        {"depth", Integer("Levels of nesting; 0: all")},
        {"fusions", {{"type", "boolean"}, {"description", "Show the contents of fusions"}}}}, {"path"},
       {{"lines", {{"type", "array"}, {"items", {{"type", "string"}}}}}}, "lines", false, WithFacts(Outline)},
      {"collectives", "Collectives",
       "Every collective with its mesh axis, bytes, executions and overlap, by bytes per step; totals by kind, axis, line.",
       {{"path", path}, {"devices_per_node", Integer("Default 8")}}, {"path"},
       {{"collectives", Rows("By bytes per step")}, {"by_kind", Rows("Totals")}, {"by_axis", Rows("Totals")}},
       "collectives", false, WithFacts(Collectives)},
      {"cost", "Flops and memory traffic",
       "Flops and bytes per op, opcode, computation, source line or op_name, with loops multiplied by trip count.",
       {{"path", path}, {"by", {{"type", "string"}, {"enum", {"op", "opcode", "computation", "line", "op_name"}}}}},
       {"path"}, {{"total", {{"type", "object"}}}, {"rows", Rows("Most expensive first")}}, "rows", false,
       WithFacts(Cost)},
      {"memory", "Memory", "Peak memory of a device and the buffers live at the peak, largest first.",
       {{"path", path}, {"budget_bytes", Integer("Memory of a device; the answer says whether the module fits")}},
       {"path"}, {{"peak_bytes", Integer("Maximum of the live bytes")}, {"live_at_peak", Rows("Largest first")}},
       "live_at_peak", false, WithFacts(Memory)},
      {"predict", "Predicted step time", "Predicts the time of a step on a machine, with the longest ops and exposed transfers.",
       {{"path", path}, {"machine", Text("For example h100x8x16 or tpu-v5p-4x4x8; a YAML file of a machine")},
        {"set", {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", "Parameters, such as nic=100GB/s"}}}},
       {"path", "machine"},
       {{"step_seconds", Number("The whole step")}, {"ops", Rows("Longest first")}, {"transfers", Rows("Most exposed first")}},
       "ops", false, WithFacts(PredictTime)},
      {"check", "Check a module", "Parses and verifies a module; every error has a line and the id of the violated rule.",
       {{"path", path}}, {"path"},
       {{"ok", {{"type", "boolean"}}}, {"diagnostics", Rows("Errors, then warnings")}}, "diagnostics", false, Check},
  };
}

}  // namespace shoal::internal
