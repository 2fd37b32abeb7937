// Options of shoal stats.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/stats.h"

namespace shoal::cli {

Action AddStats(Options& command) {
  auto flags = std::make_shared<StatsFlags>();
  command.Value("DIR", flags->folder, "The directory passed to --xla_dump_to, including its subdirectories").Required();
  command.Value("--top", flags->top, "Show at most N rows (0: all)").NotNegative();
  command.Flag("--diff", flags->diff, "Also show what each pass changed, compared with the previous stage");
  AddTo(command, flags->common);
  command.Footer(
      "Every file that may contain a module is read; the metrics of a module are those of its last stage. Unreadable\n"
      "files are listed with the reason; the exit status is 1 only if no module can be read.\n\n"
      "Examples:\n"
      "  XLA_FLAGS='--xla_dump_to=dump --xla_dump_hlo_pass_re=.*' python3 train.py && shoal stats dump\n"
      "  shoal stats --diff dump\n"
      "  shoal stats --json dump | jq '.modules[] | {name, flops, peak_memory}'");
  return [=] { return StatsCommand(*flags); };
}

}  // namespace shoal::cli
