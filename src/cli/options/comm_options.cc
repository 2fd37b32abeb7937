// The options of shoal comm.
#include "analyze/facts/device_grid.h"
#include "cli/options/shared_options.h"
#include "cli/options/commands.h"
#include "cli/commands/comm.h"

namespace shoal::internal {

Run AddComm(Options& verb) {
  auto flags = std::make_shared<CommFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--devices_per_node", flags->devices_per_node, "Neighbouring devices that share a fast network")
      .Positive();
  // A flag, so that a file may follow it.
  verb.FlagWithValue("--matrix", flags->matrix, "text",
                     "Who sends how much to whom; --matrix=csv: nothing but that, as CSV")
      .OneOf({"text", "csv"});
  verb.Value("--num_replicas", flags->num_replicas, "Replicas; default: what the module says")
      .Between(1, kMaxIds);
  verb.Value("--num_partitions", flags->num_partitions, "Partitions; default: what the module says")
      .Between(1, kMaxIds);
  verb.Value("--top", flags->top, "So many rows of each table; 0: all").NotNegative();
  AddTo(verb, flags->loops);
  AddTo(verb, flags->common);
  verb.Footer(
      "Payload is what one device brings each time; ring and direct are what the device that receives most receives "
      "per\n"
      "step, when everything goes around a ring of the group and when parts go straight to whom they are for.\n\n"
      "Examples:\n"
      "  shoal comm module.hlo\n"
      "  shoal comm --devices_per_node=4 --top=0 module.hlo\n"
      "  shoal comm --matrix=csv module.hlo > traffic.csv\n"
      "  shoal comm --json module.hlo | jq '.by_kind'");
  return [=] { return CommVerb(*flags); };
}

}  // namespace shoal::internal
