#include "present/reports/cost_report.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "analyze/cost/cost.h"
#include "analyze/facts/op_paths.h"
#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"
#include "present/reports/assumptions.h"
#include "present/reports/json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

struct Group {
  std::string name;
  Cost cost;
  double times = 0;
  double sort_value = 0;
};

// The value that orders the groups by `key`, the largest first. "cost" is for a machine with 100 flops per byte moved.
double SortValue(const Group& group, std::string_view key) {
  if (key == "flops") return group.cost.flops;
  if (key == "transcendentals") return group.cost.transcendentals;
  if (key == "read") return group.cost.bytes_read;
  if (key == "written") return group.cost.bytes_written;
  if (key == "count") return group.times;
  if (key == "name") return 0;
  return group.cost.flops + 100 * group.cost.bytes();
}

// The group that an instruction belongs to.
std::string GroupName(const Instruction& hlo, const ModuleFacts& facts, const std::string& by) {
  if (by == "opcode") return std::string(Text(hlo.opcode));
  if (by == "computation") return std::string(hlo.parent->name);
  if (by == "op") return StrCat(hlo.parent->name, "/", hlo.name);
  const Metadata* metadata = hlo[kMetadata];
  std::string name;
  if (metadata == nullptr) return "(none given)";
  if (by == "line") name = facts.sources().Of(hlo);
  if (by == "op_name") name = metadata->op_name;
  if (by == "op_type") name = metadata->op_type;
  if (by == "module") name = ModulePathOf(metadata->op_name);
  return name.empty() ? "(none given)" : name;
}

// An instruction's id is computation/name, or only the name if it is unique.
std::string_view NameIn(std::string_view id) { return id.substr(id.find('/') + 1); }
void ShortenIds(std::vector<Group>& groups) {
  std::unordered_map<std::string, int> same_name;  // number of instructions with a name
  for (const Group& group : groups) ++same_name[std::string(NameIn(group.name))];
  for (Group& group : groups) {
    std::string name(NameIn(group.name));
    if (same_name.at(name) == 1) group.name = std::move(name);
  }
}

std::vector<Group> GroupsOf(const CostReport& report) {
  const ModuleCost& cost = report.facts->cost();
  const auto& [by, sort, top] = report.options;
  std::vector<Group> groups;
  std::unordered_map<std::string, size_t> index;
  for (const InstructionCost& one : cost.instructions) {
    const auto [entry, is_new] = index.try_emplace(GroupName(*one.hlo, *report.facts, by), groups.size());
    if (is_new) groups.emplace_back().name = entry->first;
    Group& group = groups[entry->second];
    group.cost.Add(one.once, one.times);
    group.times += one.times;
  }
  if (by == "op") ShortenIds(groups);
  for (Group& group : groups) group.sort_value = SortValue(group, sort);
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.sort_value != b.sort_value ? a.sort_value > b.sort_value : a.name < b.name;
  });
  return groups;
}

std::string Intensity(const Cost& cost) {
  if (cost.bytes() <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", cost.flops / cost.bytes());
  return text;
}

std::vector<std::string> Row(const std::string& name, double times, const Cost& cost) {
  return {name,
          FormatSi(times),
          FormatSi(cost.flops),
          FormatSi(cost.transcendentals),
          FormatBytes(cost.bytes_read),
          FormatBytes(cost.bytes_written),
          Intensity(cost)};
}

Json ToJson(const Cost& cost) {
  return {{"flops", cost.flops},
          {"transcendentals", cost.transcendentals},
          {"bytes_read", cost.bytes_read},
          {"bytes_written", cost.bytes_written}};
}

}  // namespace

CostReport CostReportOf(const ModuleFacts& facts, const std::string& file, const CostReportOptions& options) {
  CostReport report{file, &facts, options, AssumptionsOf(facts)};
  const std::vector<std::string> without_cost = AssumptionsOf(facts.cost());
  report.assumptions.insert(report.assumptions.end(), without_cost.begin(), without_cost.end());
  return report;
}

std::string CostText(const CostReport& report, const TextStyle& style) {
  const ModuleCost& cost = report.facts->cost();
  const std::vector<Group> groups = GroupsOf(report);
  const auto& [by, sort, limit] = report.options;
  const size_t top = limit > 0 ? static_cast<size_t>(limit) : groups.size();
  const bool is_path = by == "line" || by == "op_name";
  Table table({{by.c_str(), is_path ? ElideMode::kPath : ElideMode::kMiddle, 1, 16},
               ">count", ">flops", ">transcendentals", ">read", ">written", ">flops/byte"});
  double times = 0, rest_times = 0;
  Cost rest;
  for (size_t i = 0; i < groups.size(); ++i) {
    times += groups[i].times;
    if (i >= top) {
      rest.Add(groups[i].cost);
      rest_times += groups[i].times;
      continue;
    }
    table.Add(Row(groups[i].name, groups[i].times, groups[i].cost));
  }
  if (groups.size() > top)
    table.Add(Row(StrCat("(", groups.size() - top, " more)"), rest_times, rest));
  table.Add(Row("total", times, cost.total));
  return WrapToWidth(StrCat(table.ToText(style), "\nXLA's own analysis, counting loop bodies once: ", FormatSi(cost.xla.flops), " flops, ",
                        FormatSi(cost.xla.transcendentals), " transcendentals, ", FormatBytes(cost.xla.bytes), " accessed\n",
                        NotesText(report.assumptions)), style);
}

std::string CostJson(const CostReport& report) {
  const ModuleCost& cost = report.facts->cost();
  Json rows = Json::array();
  for (const Group& group : GroupsOf(report)) {
    Json row = {{"name", group.name}, {"times", group.times}};
    row.update(ToJson(group.cost));
    rows.push_back(std::move(row));
  }
  return JsonText(
      {{"version", kJsonVersion},
       {"file", report.file},
       {"xla",
        {{"flops", cost.xla.flops}, {"bytes accessed", cost.xla.bytes}, {"transcendentals", cost.xla.transcendentals}}},
       {"total", ToJson(cost.total)},
       {"by", report.options.by},
       {"rows", std::move(rows)},
       {"unknown_custom_calls", cost.unknown_calls},
       {"assumptions", report.assumptions}});
}

}  // namespace shoal::internal
