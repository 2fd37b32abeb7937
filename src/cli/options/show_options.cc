// Options of shoal show.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/show.h"

namespace shoal::cli {
namespace {

const std::map<std::string, OutlineOptions::Ops> kOps = {{"communication", OutlineOptions::Ops::kCommunication},
                                                         {"computation", OutlineOptions::Ops::kComputation},
                                                         {"important", OutlineOptions::Ops::kImportant},
                                                         {"all", OutlineOptions::Ops::kAll}};

}  // namespace

Action AddShow(Options& command) {
  auto flags = std::make_shared<ShowFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Choice("--op", flags->options.ops, kOps,
                 "The ops to show: communication, computation, important (both of these) or all");
  command.Flag("--name", flags->options.names, "Show instruction names");
  command.Flag("--groups", flags->options.groups_as_written, "Show device groups as written in the module");
  command.Flag("--fusion", flags->options.inside_fusions, "Show the contents of fusions");
  command.Flag("--stack", flags->options.stack, "Show the Python stack of each op");
  command.Value("--depth", flags->options.depth, "Show at most N levels of nesting (0: all)").NotNegative();
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "Repeated layers are folded: \"× 32:\" precedes the first of 32 equal blocks. Totals are per device and step,\n"
      "with loop bodies multiplied by trip count.\n\n"
      "Examples:\n"
      "  shoal show module.hlo\n"
      "  shoal show --op=communication --groups module.hlo\n"
      "  shoal show --json module.hlo | jq '.totals[] | select(.kind == \"all-reduce\").times'");
  return [=] { return ShowCommand(*flags); };
}

}  // namespace shoal::cli
