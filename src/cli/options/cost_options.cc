// Options of shoal cost.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/cost.h"

namespace shoal::internal {

Action AddCost(Options& command) {
  auto flags = std::make_shared<CostFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("--by", flags->by, "Key to group the rows by")
      .OneOf({"op", "opcode", "computation", "line", "op_name", "op_type", "module"});
  command.Value("--top", flags->top, "Show at most N rows (0: all)").NotNegative();
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "Numbers are per device and step, with loops multiplied by trip count; XLA's own analysis counts loops once.\n\n"
      "Examples:\n"
      "  shoal cost module.hlo\n"
      "  shoal cost --by=line --top=10 module.hlo\n"
      "  shoal cost --json module.hlo | jq .total.flops");
  return [=] { return CostCommand(*flags); };
}

}  // namespace shoal::internal
