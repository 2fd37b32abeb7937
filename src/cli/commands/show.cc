#include "cli/commands/show.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"
#include "present/reports/assumptions.h"
#include "present/reports/show_json.h"

namespace shoal::internal {
namespace {

void KeepKinds(StepTotals& totals, ShownOps ops) {
  std::erase_if(totals.kinds, [&](const KindTotal& kind) {
    return (ops == ShownOps::kCommunication && kind.interest != OpCategory::kCommunication) ||
           (ops == ShownOps::kComputation && kind.interest != OpCategory::kComputation);
  });
}

}  // namespace

int ShowCommand(const ShowFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Module& module = *input.module;
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({&module});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const ExecutionCounts executions(module, *options);
  const InferredGrid devices = InferDevices(module);
  const ModuleCollectives collectives = CollectivesOf(module, executions, devices.grid);
  Skeleton skeleton(module, executions, collectives, flags.skeleton);
  StepTotals totals = StepTotalsOf(collectives, CostOf(module, executions), skeleton.works());
  KeepKinds(totals, flags.skeleton.ops);
  std::vector<std::string> assumptions = AssumptionsOf(executions);
  assumptions.insert(assumptions.end(), collectives.assumptions.begin(), collectives.assumptions.end());

  const ShownModule shown{module, executions, skeleton, totals};
  if (flags.common.json) {
    const std::string json = ShowJson(flags.file, shown, {devices.grid.count(), devices.from}, assumptions);
    return Finish(input, json, flags.common);
  }
  SkeletonStyle style = flags.style;
  style.text = OutputStyle();
  std::string text = StrCat(module.name.empty() ? "module" : module.name, " on ", devices.from, "\n");
  text += SkeletonText(shown, style);
  text = WrapToWidth(text + NotesText(assumptions), style.text);
  return Finish(input, text, flags.common);
}

}  // namespace shoal::internal
