// Options of shoal machines.
#include "cli/options/commands.h"
#include "cli/commands/machines.h"

namespace shoal::internal {

Action AddMachines(Options& command) {
  auto flags = std::make_shared<MachinesFlags>();
  command.Value("NAME", flags->name, "Print the parameters of this machine (default: list all machines)");
  command.Flag("--json", flags->common.json, "Print JSON to standard output");
  command.Footer(
      "shoal time can change each parameter with --set and --sweep. To describe your own machine, copy a YAML file\n"
      "from machines/ and edit it.\n\n"
      "Examples:\n"
      "  shoal machines\n"
      "  shoal machines h100x8x64\n"
      "  shoal machines --json | jq '.machines[].name'");
  return [=] { return MachinesCommand(*flags); };
}

}  // namespace shoal::internal
