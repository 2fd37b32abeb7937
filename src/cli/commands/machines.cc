#include "cli/commands/machines.h"

#include "present/reports/machines_report.h"

namespace shoal::internal {

int MachinesCommand(const MachinesFlags& flags) {
  if (flags.keys) return WriteText(MachineKeysText(OutputStyle()));
  if (flags.yaml && flags.name.empty()) return FailOnUsage("--yaml needs the name of a machine", flags.common);
  std::vector<Machine> machines;
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) names.emplace_back(preset.name);
  if (!flags.name.empty()) names = {flags.name};
  for (const std::string& name : names) {
    Result<Machine> machine = LoadMachine(name);
    if (!machine.ok()) return FailOnUsage(machine.diag().message, flags.common);
    machines.push_back(std::move(*machine));
  }
  if (flags.yaml) return WriteText(MachineYaml(machines.front()));
  if (flags.common.json) return WriteText(MachinesJson(machines));
  return WriteText(flags.name.empty() ? MachinesText(machines, OutputStyle()) : MachineText(machines.front(), OutputStyle()));
}

}  // namespace shoal::internal
