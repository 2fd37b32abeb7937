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
  const ModuleFacts facts(module, {.execution = *options});
  const InferredGrid& devices = facts.devices();
  const Skeleton skeleton(facts, flags.skeleton);
  StepTotals totals = facts.step_totals();
  KeepKinds(totals, flags.skeleton.ops);
  std::vector<std::string> assumptions = AssumptionsOf(facts.executions());
  const std::vector<std::string>& more = facts.collectives().assumptions;
  assumptions.insert(assumptions.end(), more.begin(), more.end());

  const ShownModule shown{facts, skeleton, totals};
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
