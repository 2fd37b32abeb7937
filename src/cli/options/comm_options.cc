// Options of shoal comm.
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/comm.h"
#include "present/reports/comm_report.h"

namespace shoal::cli {

Action AddComm(Options& command) {
  auto flags = std::make_shared<CommFlags>();
  command.Value("FILE", flags->file, kModuleHelp).Required();
  command.Value("--devices_per_node", flags->devices_per_node, "Number of consecutive devices in a node")
      .Positive();
  // Declared as a flag, so that FILE may follow it.
  command.FlagWithValue("--matrix", flags->matrix, "text",
                        "Also print the bytes sent between each pair of devices; --matrix=csv prints only that, as CSV")
      .OneOf({"text", "csv"});
  command.Value("--num_replicas", flags->num_replicas, "Number of replicas (default: inferred from the module)")
      .Positive();
  command.Value("--num_partitions", flags->num_partitions, "Number of partitions (default: inferred from the module)")
      .Positive();
  command.Value("--sort", flags->sort, "Key to sort the collectives by; order is that of execution")
      .OneOf({std::begin(internal::kCommOrders), std::end(internal::kCommOrders)});
  command.Value("--top", flags->top, "Show at most N rows of each table (0: all)").NotNegative();
  AddTo(command, flags->loops);
  AddTo(command, flags->common);
  command.Footer(
      "Payload is the size of one device's operands in one execution. Ring and direct are the maximum bytes that any\n"
      "device receives per step: ring with a ring algorithm, direct with parts sent straight to their destinations.\n\n"
      "Examples:\n"
      "  shoal comm module.hlo\n"
      "  shoal comm --devices_per_node=4 --top=0 module.hlo\n"
      "  shoal comm --sort=ring --top=5 module.hlo\n"
      "  shoal comm --matrix=csv module.hlo > traffic.csv\n"
      "  shoal comm --json module.hlo | jq '.by_kind'");
  return [=] { return CommCommand(*flags); };
}

}  // namespace shoal::cli
