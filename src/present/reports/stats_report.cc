#include "present/reports/stats_report.h"

#include <algorithm>
#include <map>

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/reports/json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

// The columns that all modules lack are omitted.
struct OriginColumns {
  bool roles = false, lines = false;
  explicit OriginColumns(const StatsReport& report) {
    for (const ModuleStats& module : report.modules) {
      roles |= !module.role.empty();
      lines |= !module.line.empty();
    }
  }
  std::vector<std::string> Cells(const std::string& name, std::string_view role, const std::string& line) const {
    std::vector<std::string> cells{name};
    if (roles) cells.emplace_back(role);
    if (lines) cells.push_back(line);
    return cells;
  }
};

std::vector<std::string> Row(std::vector<std::string> first, int64_t stages, size_t files, int64_t bytes,
                             const std::string& devices, const ModuleTotals& totals) {
  for (const std::string& cell :
       {StrCat(stages), StrCat(files), FormatBytes(static_cast<double>(bytes)), devices, FormatSi(totals.instructions),
        FormatSi(totals.flops), FormatBytes(totals.bytes), FormatSi(totals.collectives), FormatBytes(totals.wire_bytes),
        FormatBytes(totals.peak_memory)})
    first.push_back(cell);
  return first;
}

// "all-reduce 12, all-gather 3"
std::string KindsText(const ModuleTotals& totals) {
  return StrJoin(totals.by_kind, ", ",
                 [](std::string* out, const auto& kind) { StrAppend(out, kind.first, " ", FormatSi(kind.second)); });
}

Json MetricsJson(const ModuleTotals& totals) {
  Json metrics = Json::object();
  for (const Metric& total : Metrics())
    if (total.value != &ModuleTotals::step_seconds) metrics[total.name] = totals.*total.value;
  metrics["collectives_by_kind"] = totals.by_kind;
  return metrics;
}

std::vector<const ModuleStats*> SortedByCost(const StatsReport& report) {
  std::vector<const ModuleStats*> sorted;
  for (const ModuleStats& module : report.modules) sorted.push_back(&module);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ModuleStats* x, const ModuleStats* y) {
    return std::pair(x->totals.flops, x->totals.bytes) > std::pair(y->totals.flops, y->totals.bytes);
  });
  return sorted;
}

}  // namespace

ModuleTotals StatsReport::Sum() const {
  ModuleTotals sum;
  for (const ModuleStats& module : modules) {
    for (const Metric& total : Metrics())
      if (total.value != &ModuleTotals::peak_memory) sum.*total.value += module.totals.*total.value;
    sum.peak_memory = std::max(sum.peak_memory, module.totals.peak_memory);
    for (const auto& [kind, count] : module.totals.by_kind) sum.by_kind[kind] += count;
  }
  return sum;
}

namespace {

// A row for each stage with changes.
std::string StagesText(const ModuleStats& module, const TextStyle& style) {
  if (module.stages.empty()) return "";
  Table table({{"stage", ElideMode::kMiddle, 1, 16}, ">instructions", {"changes", ElideMode::kRight, 2, 20}});
  int64_t unchanged = 0;
  for (const StageChanges& stage : module.stages) {
    unchanged += stage.none() ? 1 : 0;
    if (!stage.none()) table.Add({stage.stage, StrCat(stage.instructions), ToString(stage)});
  }
  return StrCat("\n", module.dumped->name, ", each stage compared with the previous one\n", table.ToText(style),
                unchanged == 0 ? "" : StrCat("no change in ", Pluralize(unchanged, "stage"), "\n"));
}

std::vector<Recompilation> RecompilationsIn(const StatsReport& report) {
  std::vector<ProgramKey> keys;
  for (const ModuleStats& module : report.modules) keys.push_back(module.program);
  return FindRecompilations(keys);
}

// "one program, compiled 2 times: jit_f, jit_f.2; parameter 0: f32[2], f32[3]"
std::string RecompilationsText(const StatsReport& report) {
  std::string text;
  for (const Recompilation& group : RecompilationsIn(report)) {
    constexpr size_t kMaxNames = 3, kMaxDifferences = 3;
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(group.modules.size(), kMaxNames); ++i)
      names.push_back(report.modules[group.modules[i]].dumped->name);
    const size_t unnamed = group.modules.size() - names.size();
    const size_t shown = std::min(group.differences.size(), kMaxDifferences), more = group.differences.size() - shown;
    const ModuleStats& first = report.modules[group.modules[0]];
    std::vector<std::string> origin;
    if (!first.role.empty()) origin.emplace_back(first.role);
    if (!first.line.empty()) origin.push_back(first.line);
    StrAppend(&text, "one program", origin.empty() ? "" : StrCat(" (", StrJoin(origin, ", "), ")"), ", compiled ",
              group.modules.size(), " times: ",
              StrJoin(names, ", "), unnamed == 0 ? "" : StrCat(" and ", unnamed, " more"), "; ",
              StrJoin(std::vector(group.differences.begin(), group.differences.begin() + static_cast<ptrdiff_t>(shown)),
                      "; "),
              more == 0 ? "" : StrCat("; and ", Pluralize(static_cast<int64_t>(more), "more difference")), "\n");
  }
  return text.empty() ? "" : "\n" + text;
}

Json RecompilationsJson(const StatsReport& report) {
  Json groups = Json::array();
  for (const Recompilation& group : RecompilationsIn(report)) {
    Json names = Json::array();
    for (size_t i : group.modules) names.push_back(report.modules[i].dumped->name);
    groups.push_back({{"modules", std::move(names)}, {"differences", group.differences}});
  }
  return groups;
}

Json StagesJson(const ModuleStats& module) {
  Json stages = Json::array();
  for (const StageChanges& stage : module.stages) {
    Json counts = Json::object();
    for (const auto& [kind, ops] : stage.counts) counts[std::string(ToString(kind))] = ops;
    stages.push_back({{"stage", stage.stage}, {"instructions", stage.instructions}, {"changes", std::move(counts)}});
  }
  return stages;
}

// One line for each reason.
std::string UnreadableText(const StatsReport& report) {
  std::map<std::string_view, std::pair<std::string_view, int64_t>> first_and_count;
  for (const auto& [path, reason] : report.unreadable) ++first_and_count.try_emplace(reason, path, 0).first->second.second;
  std::string text;
  for (const auto& [path, reason] : report.unreadable) {
    const auto& [first, count] = first_and_count.at(reason);
    if (path != first) continue;
    StrAppend(&text, "unreadable: ", EscapeName(path), count > 1 ? StrCat(" and ", count - 1, " more") : "", ": ", EscapeName(reason), "\n");
  }
  return text;
}

}  // namespace

std::string StatsText(const StatsReport& report, int64_t top, const TextStyle& style) {
  const OriginColumns origins(report);
  std::vector<Column> columns{{"module", ElideMode::kMiddle, 1, 16}};
  if (origins.roles) columns.push_back(Column("role").Droppable());
  if (origins.lines) columns.push_back(Column("line", ElideMode::kPath, 1, 14).MaxWidth(40).Droppable());
  for (const char* title : {">stages", ">files", ">size"}) columns.push_back(Column(title).Droppable());
  for (const char* title : {">devices", ">instructions", ">flops", ">bytes", ">collectives", ">wire", ">peak"})
    columns.emplace_back(title);
  Table table(std::move(columns));
  int64_t stages = 0, bytes = 0, rows = 0, files = 0;
  for (const ModuleStats* module : SortedByCost(report)) {
    const DumpedModule& dumped = *module->dumped;
    stages += dumped.Stages();
    files += std::ssize(dumped.files);
    bytes += dumped.Bytes();
    if (top > 0 && rows++ >= top) continue;
    table.Add(Row(origins.Cells(dumped.name, module->role, module->line), dumped.Stages(), dumped.files.size(), dumped.Bytes(),
                  StrCat(module->totals.devices.grid.count()), module->totals));
  }
  if (top > 0 && rows > top) table.Add({StrCat("(", rows - top, " more)")});
  const ModuleTotals sum = report.Sum();
  table.Add(Row(origins.Cells("total", "", ""), stages, static_cast<size_t>(files), bytes, "", sum));
  std::string text = StrCat(EscapeName(report.folder), ": ", Pluralize(std::ssize(report.modules), "module"),
                            "; metrics of the last stage, per device and step\n\n", table.ToText(style));
  if (!sum.by_kind.empty()) StrAppend(&text, "\ncollectives: ", KindsText(sum), "\n");
  text += RecompilationsText(report);
  for (const ModuleStats& module : report.modules) text += StagesText(module, style);
  auto append = [](std::string* out, const auto& other) { StrAppend(out, other.second, " ", EscapeName(other.first)); };
  if (!report.dump.others.empty()) StrAppend(&text, "\nother files: ", StrJoin(report.dump.others, ", ", append), "\n");
  text += UnreadableText(report);
  return WrapToWidth(text + NotesText(report.assumptions), style);
}

std::string StatsJson(const StatsReport& report) {
  Json modules = Json::array(), unreadable = Json::array();
  for (const ModuleStats& module : report.modules) {
    Json one = {{"name", module.dumped->name},
                {"role", module.role},
                {"line", module.line},
                {"stages", module.dumped->Stages()},
                {"files", module.dumped->files.size()},
                {"size", module.dumped->Bytes()},
                {"final_file", module.final_file}};
    one["devices"] = module.totals.devices.grid.count();
    one["computations"] = module.totals.computations;
    one.update(MetricsJson(module.totals));
    if (!module.stages.empty()) one["stage_changes"] = StagesJson(module);
    modules.push_back(std::move(one));
  }
  for (const auto& [path, reason] : report.unreadable) unreadable.push_back({{"file", path}, {"reason", reason}});
  const Json all = {{"version", kJsonVersion},
                    {"directory", report.folder},
                    {"modules", std::move(modules)},
                    {"total", MetricsJson(report.Sum())},
                    {"recompilations", RecompilationsJson(report)},
                    {"other_files", report.dump.others},
                    {"unreadable", std::move(unreadable)},
                    {"assumptions", report.assumptions}};
  return JsonText(all);
}

}  // namespace shoal::internal
