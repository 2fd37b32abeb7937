#include "cli/commands/comm.h"

namespace shoal::cli {

int CommCommand(const CommFlags& flags) {
  FactOptions options = flags.loops.ToFactOptions();
  options.num_replicas = flags.num_replicas;
  options.num_partitions = flags.num_partitions;
  const Result<Facts> facts = ReadFacts(flags.file, flags.common, options);
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<Collectives> collectives =
      facts->collectives({flags.devices_per_node, flags.top, /*matrix=*/!flags.matrix.empty(), flags.sort});
  if (!collectives.ok()) return Fail(collectives.error(), flags.common);
  return Finish(facts->module(), flags.matrix == "csv" ? collectives->ToCsv() : TextOf(*collectives, flags.common), flags.common);
}

}  // namespace shoal::cli
