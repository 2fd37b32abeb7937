// The options of shoal stats.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/stats.h"

namespace shoal::internal {

Run AddStats(Options& verb) {
  auto flags = std::make_shared<StatsFlags>();
  verb.Value("DIR", flags->folder, "What --xla_dump_to named; also the folders in it").Required();
  verb.Value("--top", flags->top, "So many rows; 0: all").NotNegative();
  verb.Flag("--diff", flags->diff, "Also say what each pass changed: its stage against the one before");
  AddTo(verb, flags->common);
  verb.Footer(
      "Every file that may hold a module is read; a module's figures are those of its last stage. What cannot be read\n"
      "is listed with the reason; the exit status is 1 only if nothing could be read.\n\n"
      "Examples:\n"
      "  XLA_FLAGS='--xla_dump_to=dump --xla_dump_hlo_pass_re=.*' python3 train.py && shoal stats dump\n"
      "  shoal stats --diff dump\n"
      "  shoal stats --json dump | jq '.modules[] | {name, flops, peak_memory}'");
  return [=] { return StatsVerb(*flags); };
}

}  // namespace shoal::internal
