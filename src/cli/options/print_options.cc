// The options of shoal print.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/print.h"

namespace shoal::internal {

Run AddPrint(Options& verb) {
  auto flags = std::make_shared<PrintFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--format", flags->format,
                   "hlo: canonical text; short: without %, signatures and metadata; pb; json")
      .OneOf({"hlo", "pb", "json", "short"});
  verb.Value("-o,--output", flags->output, "Write here instead of standard output");
  verb.Flag("--elide_large_constants", flags->elide_large_constants,
                 "{...} for constants of more than 10 elements, as XLA's own default");
  AddTo(verb, flags->common);
  verb.Footer(
      "Nothing is lost by default: large constants are printed in full, unknown ops and attributes as they are.\n\n"
      "Examples:\n"
      "  shoal print module.hlo\n"
      "  shoal print --format=short module.hlo.pb | less\n"
      "  shoal print --format=pb module.hlo -o module.pb\n"
      "  zcat dump.txt.gz | shoal print -");
  return [=] { return PrintVerb(*flags); };
}

}  // namespace shoal::internal
