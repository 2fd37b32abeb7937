// shoal show: the execution skeleton of a module.

#include "analysis/assumptions.h"
#include "base/strings.h"
#include "cli/input.h"
#include "cli/loop_flags.h"
#include "cli/verbs.h"
#include "devices/infer_devices.h"
#include "report/show_json.h"
#include "report/skeleton_text.h"

namespace shoal {
namespace {

struct ShowFlags {
  CommonFlags common;
  LoopFlags loops;
  SkeletonOptions skeleton;
  SkeletonStyle style;
  std::string file;
};

const std::map<std::string, ShownOps> kOps = {{"communication", ShownOps::kCommunication},
                                              {"computation", ShownOps::kComputation},
                                              {"important", ShownOps::kThatMatter},
                                              {"all", ShownOps::kAll}};

void KeepKinds(StepTotals& totals, ShownOps ops) {
  std::erase_if(totals.kinds, [&](const KindTotal& kind) {
    return (ops == ShownOps::kCommunication && kind.interest != Interest::kCommunication) ||
           (ops == ShownOps::kComputation && kind.interest != Interest::kComputation);
  });
}

int ShowVerb(const ShowFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return Refuse(input, flags.common);
  const Module& module = *input.module;
  const Result<ExecutionOptions> options = flags.loops.For({&module});
  if (!options.ok()) return Refuse(input, options.diag(), flags.common);
  const Executions executions(module, *options);
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
  text = Fitted(text + NotesText(assumptions), style.text);
  return Finish(input, text, flags.common);
}

}  // namespace

Run AddShow(Options& verb) {
  auto flags = std::make_shared<ShowFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Choice("--op", flags->skeleton.ops, kOps,
              "Which ops: communication, computation, both (important) or all there are");
  verb.Flag("--name", flags->style.names, "Names of instructions");
  verb.Flag("--topology", flags->style.topology, "Groups of devices as they are written");
  verb.Flag("--fusion", flags->skeleton.inside_fusions, "What is inside fusions");
  verb.Value("--depth", flags->style.depth, "So many levels of loops, branches and calls; 0: all").NotNegative();
  flags->loops.AddTo(verb);
  flags->common.AddTo(verb);
  verb.Footer(
      "Layers that repeat are folded: \"× 32:\" stands above one of 32. Totals are per device and step, with loops\n"
      "counted as often as they run.\n\n"
      "Examples:\n"
      "  shoal show module.hlo\n"
      "  shoal show --op=communication --topology module.hlo\n"
      "  shoal show --json module.hlo | jq '.totals[] | select(.kind == \"all-reduce\").times'");
  return [=] { return ShowVerb(*flags); };
}

}  // namespace shoal
