// shoal mem: what a module keeps in memory, and when most.
#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "collectives/infer_devices.h"
#include "ir/source_place.h"
#include "memory/buffer_bytes.h"
#include "memory/memory.h"
#include "memory/run_memory.h"
#include "nlohmann/json.hpp"
#include "ops/op.h"
#include "report/plot.h"
#include "report/table.h"
#include "verify/verify.h"

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

struct MemFlags {
  CommonFlags common;
  std::string file, budget;
  int64_t top = 10;
  bool run = false;
};

std::string Source(const Instruction& hlo, const Module& module) {
  const Metadata* metadata = hlo[kMetadata];
  return metadata == nullptr ? "" : SourcePlace(*metadata, module.stack_frames);
}

std::string SpaceName(int64_t space) {
  return space == kHostSpace ? StrCat("S(", space, ") host") : StrCat("S(", space, ")");
}

const char* KindName(HeldBuffer::Kind kind) {
  static constexpr const char* kNames[] = {"argument", "output", "constant", "temporary"};
  return kNames[static_cast<size_t>(kind)];
}

std::string BufferName(const HeldBuffer& held) {
  std::string name(held.hlo->name);
  return held.index.empty() ? name : name + ToString(held.index);
}

std::string InBytes(int64_t bytes) { return Bytes(static_cast<double>(bytes)); }

std::vector<std::string> SpaceRow(const std::string& name, const SpaceMemory& space) {
  return {name,
          InBytes(space.arguments),
          InBytes(space.outputs),
          InBytes(space.aliased),
          InBytes(space.constants),
          InBytes(space.temporaries),
          InBytes(space.peak)};
}

// Where in the schedule an instruction stands, from 1.
size_t StepOf(const ModuleMemory& memory) {
  for (size_t i = 0; i < memory.steps.size(); ++i)
    if (memory.steps[i] == memory.at_peak) return i + 1;
  return 0;
}

void PrintHeld(const ModuleMemory& memory, const Module& module, int64_t top) {
  Table table({"buffer", "kind", ">bytes", "type", "source"});
  size_t shown = 0;
  int64_t rest = 0;
  for (const HeldBuffer& held : memory.held) {
    if (top > 0 && shown >= static_cast<size_t>(top)) {
      rest += held.bytes;
      continue;
    }
    ++shown;
    table.Add({BufferName(held), KindName(held.kind), InBytes(held.bytes), ToString(*held.shape, true),
               Source(*held.hlo, module)});
  }
  if (rest > 0) table.Add({StrCat("(", memory.held.size() - shown, " more)"), "", InBytes(rest), "", ""});
  std::fputs(table.ToText().c_str(), stdout);
}

void PrintText(const ModuleMemory& memory, const Module& module, const MemFlags& flags) {
  Table table({"memory", ">arguments", ">outputs", ">aliased", ">constants", ">temporaries", ">at peak"});
  if (memory.spaces.size() > 1)
    for (const SpaceMemory& space : memory.spaces) table.Add(SpaceRow(SpaceName(space.space), space));
  table.Add(SpaceRow("device", memory.device));
  std::fputs(table.ToText().c_str(), stdout);
  if (memory.at_peak == nullptr) return;
  const std::string source = Source(*memory.at_peak, module);
  std::printf("\n%s at the peak, at %s%s, step %zu of %zu; %s of temporaries are needed there\n",
              InBytes(memory.device.peak).c_str(), std::string(memory.at_peak->name).c_str(),
              source.empty() ? "" : StrCat(" (", source, ")").c_str(), StepOf(memory), memory.steps.size(),
              InBytes(memory.device.live).c_str());
  constexpr size_t kColumns = 80, kRows = 8;
  std::printf("\n%s\n", BytesPlot(memory.over_time, kColumns, kRows).c_str());
  PrintHeld(memory, module, flags.top);
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

Json InstructionJson(const Instruction& hlo, const Module& module) {
  return {{"name", hlo.name},
          {"opcode", Text(hlo.opcode)},
          {"computation", hlo.parent->name},
          {"source", Source(hlo, module)}};
}

void PrintJson(const ModuleMemory& memory, const RunMemory& run, const Module& module, const MemFlags& flags,
               int64_t budget) {
  Json spaces = Json::array(), held = Json::array(), over_time = Json::array();
  for (const SpaceMemory& space : memory.spaces) {
    Json one = {{"space", space.space}};
    one.update(ToJson(space));
    spaces.push_back(std::move(one));
  }
  for (const HeldBuffer& each : memory.held) {
    if (flags.top > 0 && std::ssize(held) >= flags.top) break;
    Json one = InstructionJson(*each.hlo, module);
    one.update({{"index", each.index},
                {"kind", KindName(each.kind)},
                {"type", ToString(*each.shape, true)},
                {"bytes", each.bytes},
                {"space", each.space}});
    held.push_back(std::move(one));
  }
  constexpr size_t kMostPoints = 400;
  for (const PlotPoint& point : Thinned(memory.over_time, kMostPoints))
    over_time.push_back({{"step", point.at}, {"name", memory.steps[point.at]->name}, {"bytes", point.value}});
  Json all = {
      {"version", 1},
      {"file", flags.file},
      {"device", ToJson(memory.device)},
      {"host", ToJson(memory.host)},
      {"spaces", std::move(spaces)},
      {"steps", memory.steps.size()},
      {"at_peak", memory.at_peak == nullptr ? Json() : InstructionJson(*memory.at_peak, module)},
      {"held_at_peak", std::move(held)},
      {"over_time", std::move(over_time)},
      {"budget",
       budget < 0 ? Json()
                  : Json{{"bytes", budget}, {"needed", DeviceBytes(memory)}, {"fits", DeviceBytes(memory) <= budget}}},
      {"run_peak_bytes", flags.run ? Json(run.peak_bytes) : Json()},
      {"assumptions", memory.assumptions}};
  std::puts(all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// -1 where none is given.
int64_t BudgetOf(const MemFlags& flags) { return flags.budget.empty() ? -1 : BytesNamed(flags.budget).value_or(-1); }

// False if the module could not be run.
bool WorkOutRun(Input& input, const MemFlags& flags, RunMemory& run) {
  Verify(*input.module, input.diags);
  if (input.diags.errors() > 0) {
    Report(input, flags.common);
    return false;
  }
  const DeviceGrid grid = InferDevices(*input.module).grid;
  run = RunMemoryOf(*input.module, Executions(*input.module), grid);
  return !run.peak_bytes.empty();
}

int MemVerb(const MemFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  Report(input, flags.common);
  if (input.module == nullptr) return kInputAtFault;
  ModuleMemory memory = MemoryOf(*input.module);
  RunMemory run;
  if (flags.run) {
    if (!WorkOutRun(input, flags, run)) return kInputAtFault;
    memory.assumptions.insert(memory.assumptions.end(), run.assumptions.begin(), run.assumptions.end());
  }
  const int64_t budget = BudgetOf(flags), needed = DeviceBytes(memory);
  if (flags.common.json) {
    PrintJson(memory, run, *input.module, flags, budget);
  } else {
    PrintText(memory, *input.module, flags);
    if (flags.run)
      std::printf("\nshoal run holds at most %s of arrays on a device\n",
                  InBytes(*std::max_element(run.peak_bytes.begin(), run.peak_bytes.end())).c_str());
    for (const std::string& assumption : memory.assumptions) std::printf("note: %s\n", assumption.c_str());
    if (budget >= 0)
      std::printf("\n%s: %s of %s\n", needed <= budget ? "it fits" : "it does not fit", InBytes(needed).c_str(),
                  InBytes(budget).c_str());
  }
  return budget >= 0 && needed > budget ? kInputAtFault : kOk;
}

}  // namespace

Run AddMem(CLI::App& shoal) {
  CLI::App* verb =
      shoal.add_subcommand("mem", "Say how much memory a module needs, and what is there when it needs most");
  auto flags = std::make_shared<MemFlags>();
  verb->add_option("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input")->required();
  verb->add_option("--budget", flags->budget, "Exit with 1 if a device needs more: 80GB, 512MiB, 1000000")
      ->check([](const std::string& text) {
        return BytesNamed(text) ? std::string() : StrCat("not a number of bytes: ", text);
      });
  verb->add_option("--top", flags->top, "So many buffers; 0: all")->capture_default_str();
  verb->add_flag("--run", flags->run, "Also work out what shoal run would hold");
  verb->add_flag("--json", flags->common.json, "A report for programs, on standard output");
  flags->common.AddTo(*verb);
  verb->footer(
      "Figures are per device, counted as XLA assigns buffers: temporaries are one block that holds them all, "
      "packed.\n\n"
      "Examples:\n"
      "  shoal mem module.hlo\n"
      "  shoal mem --budget=80GB module.hlo\n"
      "  shoal mem --json module.hlo | jq .device.peak");
  return [=] { return MemVerb(*flags); };
}

}  // namespace shoal
