#include "cli/commands/cost.h"

namespace shoal::cli {

int CostCommand(const CostFlags& flags) {
  const Result<Facts> facts = ReadFacts(flags.file, flags.common, flags.loops.ToFactOptions());
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<Cost> cost = facts->cost(flags.options);
  return cost.ok() ? Finish(facts->module(), TextOf(*cost, flags.common), flags.common) : Fail(cost.error(), flags.common);
}

}  // namespace shoal::cli
