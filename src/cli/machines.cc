// shoal machines: the machines that time knows.
#include "base/strings.h"
#include "base/units.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "report/json.h"
#include "report/table.h"
#include "sim/machine.h"

namespace shoal {
namespace {

struct MachinesFlags {
  std::string name;
  CommonFlags common;
};

Json FiguresOf(Machine machine) {
  Json figures = Json::object();
  for (const MachineFigure& figure : MachineFigures()) {
    Json row = {{"value", figure.at(machine)}, {"unit", figure.unit}};
    if (auto source = machine.sources.find(std::string(figure.name)); source != machine.sources.end())
      row["source"] = source->second;
    figures[std::string(figure.name)] = std::move(row);
  }
  return figures;
}

std::string ListText(const std::vector<Machine>& machines) {
  Table table({"name", "what", ">bf16", ">f8", ">memory", ">bandwidth", ">in a node", ">node", ">network"});
  for (const Machine& m : machines) {
    const bool torus = m.node.links == NodeLinks::kTorus;
    const double links = torus ? 2 * static_cast<double>(m.torus.dims.size()) * m.torus.link : m.node.bandwidth;
    table.Add({m.family, m.description, Scaled(m.device.peak.bf16), m.device.peak.f8 > 0 ? Scaled(m.device.peak.f8) : "-",
               Scaled(m.device.memory) + "B", Scaled(m.device.bandwidth) + "B/s", Scaled(links) + "B/s", Scaled(m.node.devices),
               Scaled(m.cluster.nic) + "B/s"});
  }
  return table.ToText();
}

std::string FiguresText(Machine machine) {
  Table table({"figure", ">value", "what", "source"});
  for (const MachineFigure& figure : MachineFigures()) {
    const auto source = machine.sources.find(std::string(figure.name));
    table.Add({std::string(figure.name), StrCat(Scaled(figure.at(machine)), figure.unit), std::string(figure.what),
               source == machine.sources.end() ? "" : source->second});
  }
  return StrCat(machine.name, ": ", machine.description, "\n\n", table.ToText());
}

int MachinesVerb(const MachinesFlags& flags) {
  std::vector<Machine> machines;
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) names.emplace_back(preset.name);
  if (!flags.name.empty()) names = {flags.name};
  for (const std::string& name : names) {
    Result<Machine> machine = MachineNamed(name);
    if (!machine.ok()) return RefuseCall(machine.diag().message, flags.common);
    machines.push_back(std::move(*machine));
  }
  std::string text;
  if (flags.common.json) {
    Json all = {{"version", 1}, {"machines", Json::array()}};
    for (const Machine& machine : machines)
      all["machines"].push_back({{"name", machine.name}, {"description", machine.description}, {"figures", FiguresOf(machine)}});
    text = JsonText(all);
  } else {
    text = flags.name.empty() ? ListText(machines) : FiguresText(machines.front());
  }
  return WriteText(text);
}

}  // namespace

Run AddMachines(Options& verb) {
  auto flags = std::make_shared<MachinesFlags>();
  verb.Value("NAME", flags->name, "A machine, as time's --on takes it; default: all, in a list");
  verb.Flag("--json", flags->common.json, "A report for programs, on standard output");
  verb.Footer(
      "Every figure may be changed with time's --set and --sweep. A machine of your own is a YAML file with the same\n"
      "names: copy one of machines/.\n\n"
      "Examples:\n"
      "  shoal machines\n"
      "  shoal machines h100x8x64\n"
      "  shoal machines --json | jq '.machines[].name'");
  return [=] { return MachinesVerb(*flags); };
}

}  // namespace shoal
