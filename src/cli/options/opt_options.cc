// The options of shoal opt.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/opt.h"

namespace shoal::internal {

Run AddOpt(Options& verb) {
  auto flags = std::make_shared<OptFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input");
  verb.List("--passes", flags->passes, "Only these, in this order");
  verb.List("--disable", flags->disabled, "Not these");
  verb.List("--print_after", flags->print_after, "Print the module after these passes instead");
  verb.Flag("--communication", flags->communication,
            "What XLA's GPU pipeline does to collectives, and a schedule that hides them, instead of the engine's passes");
  verb.Flag("--list_passes", flags->list_passes, "The passes, in order, and why they stand there");
  verb.Flag("--time", flags->time, "How long each pass took, on standard error");
  verb.Value("-o,--output", flags->output, "Write here instead of standard output");
  AddTo(verb, flags->common, Strictness::kStrict);
  verb.Footer(
      "The module is verified after each pass. `shoal compare FILE RESULT` shows that it computes the same.\n\n"
      "Examples:\n"
      "  shoal opt --list-passes\n"
      "  shoal opt module.hlo -o optimized.hlo\n"
      "  shoal opt module.hlo --passes=inline-calls,remove-dead-code\n"
      "  shoal opt partitioned.hlo --communication -o scheduled.hlo\n"
      "  shoal opt module.hlo --print-after=simplify-algebra,fuse-loops");
  return [=] { return OptVerb(*flags); };
}

}  // namespace shoal::internal
