#include "cli/commands/machines.h"

#include "present/reports/machines_report.h"

namespace shoal::internal {

int MachinesCommand(const MachinesFlags& flags) {
  std::vector<Machine> machines;
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) names.emplace_back(preset.name);
  if (!flags.name.empty()) names = {flags.name};
  for (const std::string& name : names) {
    Result<Machine> machine = LoadMachine(name);
    if (!machine.ok()) return FailOnUsage(machine.diag().message, flags.common);
    machines.push_back(std::move(*machine));
  }
  if (flags.common.json) return WriteText(MachinesJson(machines));
  return WriteText(flags.name.empty() ? MachinesText(machines, OutputStyle()) : MachineText(machines.front(), OutputStyle()));
}

}  // namespace shoal::internal
