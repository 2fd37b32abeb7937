// Options of shoal cost.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/cost.h"
#include "present/reports/cost_report.h"

namespace shoal::cli {

Action AddCost(Options& command) {
  auto flags = std::make_shared<CostFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("--by", flags->options.by, "Key to group the rows by")
      .OneOf({std::begin(internal::kCostGroupings), std::end(internal::kCostGroupings)});
  command.Value("--sort", flags->options.sort, "Key to sort the rows by; cost is flops + 100 * bytes")
      .OneOf({std::begin(internal::kCostOrders), std::end(internal::kCostOrders)});
  command.Value("--top", flags->options.top, "Show at most N rows (0: all)").NotNegative();
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "Numbers are per device and step, with loops multiplied by trip count; XLA's own analysis counts loops once.\n\n"
      "Examples:\n"
      "  shoal cost module.hlo\n"
      "  shoal cost --by=line --top=10 module.hlo\n"
      "  shoal cost --by=opcode --sort=written module.hlo\n"
      "  shoal cost --json module.hlo | jq .total.flops");
  return [=] { return CostCommand(*flags); };
}

}  // namespace shoal::cli
