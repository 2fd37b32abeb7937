// The options of shoal show.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/show.h"

namespace shoal::internal {
namespace {

const std::map<std::string, ShownOps> kOps = {{"communication", ShownOps::kCommunication},
                                              {"computation", ShownOps::kComputation},
                                              {"important", ShownOps::kImportant},
                                              {"all", ShownOps::kAll}};

}  // namespace

Run AddShow(Options& verb) {
  auto flags = std::make_shared<ShowFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Choice("--op", flags->skeleton.ops, kOps,
              "Which ops: communication, computation, both (important) or all there are");
  verb.Flag("--name", flags->style.names, "Names of instructions");
  verb.Flag("--groups", flags->style.topology, "Groups of devices as they are written");
  verb.Flag("--fusion", flags->skeleton.inside_fusions, "What is inside fusions");
  verb.Value("--depth", flags->style.depth, "So many levels of loops, branches and calls; 0: all").NotNegative();
  AddTo(verb, flags->loops);
  AddTo(verb, flags->common);
  verb.Footer(
      "Layers that repeat are folded: \"× 32:\" stands above one of 32. Totals are per device and step, with loops\n"
      "counted as often as they run.\n\n"
      "Examples:\n"
      "  shoal show module.hlo\n"
      "  shoal show --op=communication --groups module.hlo\n"
      "  shoal show --json module.hlo | jq '.totals[] | select(.kind == \"all-reduce\").times'");
  return [=] { return ShowVerb(*flags); };
}

}  // namespace shoal::internal
