#include "cli/commands/cost.h"

namespace shoal::cli {

int CostCommand(const CostFlags& flags) {
  const Result<Module> module = ReadModule(flags.file, {flags.common.strict});
  if (!module.ok()) return Fail(module.error(), flags.common);
  const Result<Facts> facts = Facts::Of(*module, flags.loops.ToFactOptions());
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<Cost> cost = facts->cost(flags.options);
  return cost.ok() ? Finish(*module, TextOf(*cost, flags.common), flags.common) : Fail(cost.error(), flags.common);
}

}  // namespace shoal::cli
