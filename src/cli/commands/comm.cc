#include "cli/commands/comm.h"

namespace shoal::cli {

int CommCommand(const CommFlags& flags) {
  const Result<Module> module = ReadModule(flags.file, {flags.common.strict});
  if (!module.ok()) return Fail(module.error(), flags.common);
  FactOptions options = flags.loops.ToFactOptions();
  options.num_replicas = flags.num_replicas;
  options.num_partitions = flags.num_partitions;
  const Result<Facts> facts = Facts::Of(*module, options);
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<Collectives> collectives =
      facts->collectives({flags.devices_per_node, flags.top, /*matrix=*/!flags.matrix.empty(), flags.sort});
  if (!collectives.ok()) return Fail(collectives.error(), flags.common);
  return Finish(*module, flags.matrix == "csv" ? collectives->ToCsv() : TextOf(*collectives, flags.common), flags.common);
}

}  // namespace shoal::cli
