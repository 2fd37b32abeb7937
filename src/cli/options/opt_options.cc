// Options of shoal opt.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/opt.h"

namespace shoal::cli {

Action AddOpt(Options& command) {
  auto flags = std::make_shared<OptFlags>();
  command.Value("FILE", flags->file, kModuleHelp);
  command.List("--passes", flags->passes, "Run only these passes, in this order");
  command.List("--disable", flags->disabled, "Skip these passes");
  command.List("--print_after", flags->print_after,
               "Print the module after each of these passes, instead of the result");
  command.Flag("--communication", flags->communication,
               "Run the collective passes of XLA's GPU pipeline instead, and schedule to hide communication");
  command.Flag("--list_passes", flags->list_passes, "List the passes and the reason for their order");
  command.Flag("--time", flags->time, "Print the time of each pass to standard error");
  command.Value("-o,--output", flags->output, "Write to this file instead of standard output");
  AddTo(command, flags->common, Strictness::kStrict);
  command.Footer(
      "The module is verified after each pass. Compare the result with `shoal compare FILE RESULT`.\n\n"
      "Examples:\n"
      "  shoal opt --list-passes\n"
      "  shoal opt module.hlo -o optimized.hlo\n"
      "  shoal opt module.hlo --passes=inline-calls,remove-dead-code\n"
      "  shoal opt partitioned.hlo --communication -o scheduled.hlo\n"
      "  shoal opt module.hlo --print-after=simplify-algebra,fuse-loops");
  return [=] { return OptCommand(*flags); };
}

}  // namespace shoal::cli
