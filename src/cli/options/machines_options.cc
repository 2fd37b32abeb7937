// Options of shoal machines.
#include "cli/options/commands.h"
#include "cli/commands/machines.h"

namespace shoal::cli {

Action AddMachines(Options& command) {
  auto flags = std::make_shared<MachinesFlags>();
  command.Value("NAME", flags->name, "Print the parameters of this machine (default: list all machines)");
  command.Flag("--yaml", flags->yaml, "Print the machine as a YAML file, to edit");
  command.Flag("--keys", flags->keys, "List the keys of machine files: unit, required or default, meaning");
  command.Flag("--json", flags->common.json, "Print JSON to standard output");
  command.Footer(
      "shoal time can change each parameter with --set and --sweep. To describe your own machine, write a file with\n"
      "`base: h100` and the keys that differ, or edit the output of --yaml.\n\n"
      "Examples:\n"
      "  shoal machines\n"
      "  shoal machines h100x8x64\n"
      "  shoal machines h100 --yaml > mine.yaml && shoal time module.hlo --on=mine.yaml\n"
      "  shoal machines --json | jq '.machines[].name'");
  return [=] { return MachinesCommand(*flags); };
}

}  // namespace shoal::cli
