// Options of shoal diff.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/diff.h"

namespace shoal::cli {

Action AddDiff(Options& command) {
  auto flags = std::make_shared<DiffFlags>();
  command.Value("A", flags->a, kModuleHelp).Required();
  command.Value("B", flags->b, "The module to compare with A").Required();
  command.Values("--threshold", flags->thresholds,
                 "METRIC<=BOUND (or <, >=, >, ==): exit with status 3 unless it holds; a BOUND with a sign (+2%, -1GB) "
                 "limits the change, one without a sign (80GB) limits the value of B; may be repeated");
  command.Flag("--exit_code", flags->exit_code, "Exit with status 3 if there are differences");
  command.Value("--on", flags->on, "Also predict the step time on this machine, as the metric step_seconds: h100x8, h100x8x64, …");
  command.Value("--top", flags->top, "Show at most N rows of each kind of change (0: all)").NotNegative();
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "Instructions are matched by their semantics. Names, the order of instructions and computations, channel ids,\n"
      "metadata and the notation of groups and shardings are ignored; the order of operands is not. Differences\n"
      "affect the exit status only with --threshold or --exit-code: it is then 3. It is 1 if a module is invalid.\n\n"
      "Metrics, per device and step: instructions, flops, transcendentals, bytes, wire_bytes, collectives,\n"
      "peak_memory, each kind of collective (all-reduce, …), and with --on step_seconds.\n\n"
      "Examples:\n"
      "  shoal diff yesterday.hlo today.hlo\n"
      "  shoal diff --threshold='wire_bytes<=+2%' --threshold='peak_memory<80GB' yesterday.hlo today.hlo\n"
      "  shoal diff --on=h100x8 --threshold='step_seconds<=+2%' yesterday.hlo today.hlo\n"
      "  shoal diff --json a.hlo b.pb | jq '.changes[].kind'");
  return [=] { return DiffCommand(*flags); };
}

}  // namespace shoal::cli
