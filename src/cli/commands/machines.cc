#include "cli/commands/machines.h"

#include "shoal/predict.h"

namespace shoal::cli {

int MachinesCommand(const MachinesFlags& flags) {
  if (flags.keys) return WriteText(Machine::Keys().ToText(OutputStyle()));
  if (flags.yaml && flags.name.empty()) return FailOnUsage("--yaml needs the name of a machine", flags.common);
  if (flags.name.empty()) return WriteText(TextOf(Machine::Catalogue(), flags.common));
  const Result<Machine> machine = Machine::Load(flags.name);
  if (!machine.ok()) return Fail(machine.error(), flags.common);
  return WriteText(flags.yaml ? machine->ToYaml() : flags.common.json ? machine->ToJson() : machine->ToText(OutputStyle()));
}

}  // namespace shoal::cli
