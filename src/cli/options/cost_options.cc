// The options of shoal cost.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/cost.h"

namespace shoal::internal {

Run AddCost(Options& verb) {
  auto flags = std::make_shared<CostFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--by", flags->by, "What a row is")
      .OneOf({"op", "opcode", "computation", "line", "op_name"});
  verb.Value("--top", flags->top, "So many rows; 0: all").NotNegative();
  AddTo(verb, flags->loops);
  AddTo(verb, flags->common);
  verb.Footer(
      "Figures are per device and step. The line about XLA equals HloCostAnalysis, which counts loop bodies once.\n\n"
      "Examples:\n"
      "  shoal cost module.hlo\n"
      "  shoal cost --by=line --top=10 module.hlo\n"
      "  shoal cost --json module.hlo | jq .total.flops");
  return [=] { return CostVerb(*flags); };
}

}  // namespace shoal::internal
