// The options of shoal machines.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/machines.h"

namespace shoal::internal {

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

}  // namespace shoal::internal
