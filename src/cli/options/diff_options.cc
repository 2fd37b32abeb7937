// The options of shoal diff.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/diff.h"

namespace shoal::internal {

Run AddDiff(Options& verb) {
  auto flags = std::make_shared<DiffFlags>();
  verb.Value("A", flags->a, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("B", flags->b, "The other one").Required();
  verb.Values("--threshold", flags->thresholds,
                   "FIGURE<=BOUND (also <, >=, >, ==): exit 1 unless it holds; +2% and -1GB bound the change, 80GB "
                   "bounds B's figure; may be repeated");
  verb.Flag("--exit_code", flags->exit_code, "Exit 1 if there is any difference");
  verb.Value("--top", flags->top, "So many rows of each kind of change; 0: all").NotNegative();
  AddTo(verb, flags->loops);
  AddTo(verb, flags->common);
  verb.Footer(
      "Instructions are matched by what they do. Names, the order of instructions and computations, channel numbers,\n"
      "metadata and how groups and shardings are written make no difference; the order of operands does. Differences\n"
      "alone do not change the exit status: --threshold and --exit-code do.\n\n"
      "Figures: instructions, flops, transcendentals, bytes, wire_bytes, collectives, peak_memory, and kinds of\n"
      "collective (all-reduce, …), per device and step.\n\n"
      "Examples:\n"
      "  shoal diff yesterday.hlo today.hlo\n"
      "  shoal diff --threshold='wire_bytes<=+2%' --threshold='peak_memory<80GB' yesterday.hlo today.hlo\n"
      "  shoal diff --json a.hlo b.pb | jq '.changes[].kind'");
  return [=] { return DiffVerb(*flags); };
}

}  // namespace shoal::internal
