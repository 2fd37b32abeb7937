// shoal cost: flops, transcendentals and bytes, with loops counted as often as they run.
#include <algorithm>
#include <cstdio>

#include "analysis/cost.h"
#include "base/strings.h"
#include "cli/assumptions.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "ir/source_place.h"
#include "nlohmann/json.hpp"
#include "ops/op.h"
#include "report/table.h"

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

struct CostFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file, by = "op";
  int64_t top = 20;
};

struct Group {
  std::string name;
  Cost cost;
  double times = 0;
};

// What a row of the table stands for.
std::string GroupName(const Instruction& hlo, const Module& module, const std::string& by) {
  if (by == "opcode") return std::string(Text(hlo.opcode));
  if (by == "computation") return std::string(hlo.parent->name);
  if (by == "op") return std::string(hlo.name);
  const Metadata* metadata = hlo[kMetadata];
  std::string name;
  if (metadata != nullptr)
    name = by == "line" ? SourcePlace(*metadata, module.stack_frames) : std::string(metadata->op_name);
  return name.empty() ? "(none given)" : name;
}

// By falling weight: flops and bytes on the scale of a machine with a hundred flops a byte.
std::vector<Group> Groups(const ModuleCost& cost, const Module& module, const std::string& by) {
  std::map<std::string, Group> groups;
  for (const InstructionCost& one : cost.instructions) {
    Group& group = groups[GroupName(*one.hlo, module, by)];
    group.cost.Add(one.once, one.times);
    group.times += one.times;
  }
  std::vector<Group> sorted;
  for (auto& [name, group] : groups) {
    group.name = name;
    sorted.push_back(std::move(group));
  }
  auto weight = [](const Group& group) { return group.cost.flops + 100 * group.cost.bytes(); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Group& a, const Group& b) { return weight(a) > weight(b); });
  return sorted;
}

std::string Intensity(const Cost& cost) {
  if (cost.bytes() <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", cost.flops / cost.bytes());
  return text;
}

std::vector<std::string> Row(const std::string& name, double times, const Cost& cost) {
  return {name,
          Scaled(times),
          Scaled(cost.flops),
          Scaled(cost.transcendentals),
          Bytes(cost.bytes_read),
          Bytes(cost.bytes_written),
          Intensity(cost)};
}

void PrintText(const ModuleCost& cost, const std::vector<Group>& groups, const CostFlags& flags,
               const std::vector<std::string>& assumptions) {
  Table table({flags.by, ">times", ">flops", ">transcendentals", ">read", ">written", ">flops/byte"});
  double times = 0, rest_times = 0;
  Cost rest;
  for (size_t i = 0; i < groups.size(); ++i) {
    times += groups[i].times;
    if (flags.top > 0 && i >= static_cast<size_t>(flags.top)) {
      rest.Add(groups[i].cost);
      rest_times += groups[i].times;
      continue;
    }
    table.Add(Row(groups[i].name, groups[i].times, groups[i].cost));
  }
  if (flags.top > 0 && groups.size() > static_cast<size_t>(flags.top))
    table.Add(Row(StrCat("(", groups.size() - static_cast<size_t>(flags.top), " more)"), rest_times, rest));
  table.Add(Row("total", times, cost.total));
  std::fputs(table.ToText().c_str(), stdout);
  std::printf("\nXLA's own analysis, loop bodies once: %s flops, %s transcendentals, %s accessed\n",
              Scaled(cost.xla.flops).c_str(), Scaled(cost.xla.transcendentals).c_str(), Bytes(cost.xla.bytes).c_str());
  for (const std::string& assumption : assumptions) std::printf("note: %s\n", assumption.c_str());
}

Json ToJson(const Cost& cost) {
  return {{"flops", cost.flops},
          {"transcendentals", cost.transcendentals},
          {"bytes_read", cost.bytes_read},
          {"bytes_written", cost.bytes_written}};
}

void PrintJson(const ModuleCost& cost, const std::vector<Group>& groups, const CostFlags& flags,
               const std::vector<std::string>& assumptions) {
  Json rows = Json::array();
  for (const Group& group : groups) {
    Json row = {{"name", group.name}, {"times", group.times}};
    row.update(ToJson(group.cost));
    rows.push_back(std::move(row));
  }
  Json all = {
      {"version", 1},
      {"file", flags.file},
      {"xla",
       {{"flops", cost.xla.flops}, {"bytes accessed", cost.xla.bytes}, {"transcendentals", cost.xla.transcendentals}}},
      {"total", ToJson(cost.total)},
      {"by", flags.by},
      {"rows", std::move(rows)},
      {"unknown_custom_calls", cost.unknown_calls},
      {"assumptions", assumptions}};
  std::puts(all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

int CostVerb(const CostFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  Report(input, flags.common);
  if (input.module == nullptr) return kInputAtFault;
  const Executions executions(*input.module, flags.loops.Options());
  const ModuleCost cost = CostOf(*input.module, executions);
  std::vector<std::string> assumptions = AssumptionsOf(executions);
  for (const auto& [target, count] : cost.unknown_calls)
    assumptions.push_back(
        StrCat(Counted(count, "custom call"), " of ", target, ": nobody can say what it costs; not counted"));
  const std::vector<Group> groups = Groups(cost, *input.module, flags.by);
  (flags.common.json ? PrintJson : PrintText)(cost, groups, flags, assumptions);
  return kOk;
}

}  // namespace

Run AddCost(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("cost", "Say what a module computes and moves, with loops counted as they run");
  auto flags = std::make_shared<CostFlags>();
  verb->add_option("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input")->required();
  verb->add_option("--by", flags->by, "What a row is")
      ->check(CLI::IsMember({"op", "opcode", "computation", "line", "op_name"}))
      ->capture_default_str();
  verb->add_option("--top", flags->top, "So many rows; 0: all")->capture_default_str();
  flags->loops.AddTo(*verb);
  verb->add_flag("--json", flags->common.json, "A report for programs, on standard output");
  flags->common.AddTo(*verb);
  verb->footer(
      "Figures are per device and step. The line about XLA equals HloCostAnalysis, which counts loop bodies once.\n\n"
      "Examples:\n"
      "  shoal cost module.hlo\n"
      "  shoal cost --by=line --top=10 module.hlo\n"
      "  shoal cost --json module.hlo | jq .total.flops");
  return [=] { return CostVerb(*flags); };
}

}  // namespace shoal
