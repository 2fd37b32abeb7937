// Options of shoal print.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/print.h"

namespace shoal::cli {

Action AddPrint(Options& command) {
  auto flags = std::make_shared<PrintFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("--format", flags->format,
                "hlo: canonical text; short: without %, signatures or metadata; pb: protobuf; json: protobuf as JSON; "
                "stablehlo: StableHLO text")
      .OneOf({"hlo", "pb", "json", "short", "stablehlo"});
  command.Value("-o,--output", flags->output, "Write to this file instead of standard output");
  command.Flag("--elide_large_constants", flags->elide_large_constants,
               "Print constants of more than 10 elements as {...}, as XLA does by default");
  AddTo(command, flags->common);
  command.Footer(
      "Nothing is lost by default: large constants are printed in full, and unknown ops and attributes are kept.\n\n"
      "Examples:\n"
      "  shoal print module.hlo\n"
      "  shoal print --format=short module.hlo.pb | less\n"
      "  shoal print --format=pb module.hlo -o module.pb\n"
      "  shoal print --format=stablehlo module.hlo -o module.mlir\n"
      "  zcat dump.txt.gz | shoal print -");
  return [=] { return PrintCommand(*flags); };
}

}  // namespace shoal::cli
