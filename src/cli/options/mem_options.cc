// Options of shoal mem.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/mem.h"

namespace shoal::cli {

Action AddMem(Options& command) {
  auto flags = std::make_shared<MemFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("--budget", flags->budget, "Exit with status 1 if a device needs more than this: 80GB, 512MiB, 1000000")
      .Check(ValidateBytes);
  command.Value("--top", flags->top, "Show at most N buffers (0: all)").NotNegative();
  command.Value("--backend", flags->backend, "Buffer-assignment rules to follow (default: inferred from the module)")
      .OneOf({std::begin(kBackends), std::end(kBackends)});
  command.Flag("--run", flags->run, "Also compute the memory that shoal run would need");
  AddTo(command, flags->common);
  command.Footer(
      "Sizes are per device, as in XLA's buffer assignment: all temporaries share one packed block.\n\n"
      "Examples:\n"
      "  shoal mem module.hlo\n"
      "  shoal mem --budget=80GB module.hlo\n"
      "  shoal mem --json module.hlo | jq .device.peak");
  return [=] { return MemCommand(*flags); };
}

}  // namespace shoal::cli
