// shoal show: the execution skeleton of a module.

#include "analysis/assumptions.h"
#include "base/strings.h"
#include "cli/input.h"
#include "cli/loop_flags.h"
#include "cli/verbs.h"
#include "collectives/infer_devices.h"
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
  Report(input, flags.common);
  if (input.module == nullptr) return kInputAtFault;
  const Module& module = *input.module;
  const Executions executions(module, flags.loops.Options());
  const InferredGrid devices = InferDevices(module);
  const ModuleCollectives collectives = CollectivesOf(module, executions, devices.grid);
  Skeleton skeleton(module, executions, collectives, flags.skeleton);
  StepTotals totals = TotalsOf(collectives, CostOf(module, executions), skeleton.works());
  KeepKinds(totals, flags.skeleton.ops);
  std::vector<std::string> assumptions = AssumptionsOf(executions);
  assumptions.insert(assumptions.end(), collectives.assumptions.begin(), collectives.assumptions.end());

  const ShownModule shown{module, executions, skeleton, totals};
  if (flags.common.json) {
    const std::string json = ShowJson(flags.file, shown, {devices.grid.count(), devices.from}, assumptions);
    return WriteOutput("", json).ok() ? kOk : kCallAtFault;
  }
  SkeletonStyle style = flags.style;
  style.text = OutputStyle();
  std::string text = StrCat(module.name.empty() ? "module" : module.name, " on ", devices.from, "\n");
  text += SkeletonText(shown, style);
  text = Fitted(text + NotesText(assumptions), style.text);
  return WriteOutput("", text).ok() ? kOk : kCallAtFault;
}

}  // namespace

Run AddShow(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("show", "Show what a module does: loops, collectives, products, fusions");
  auto flags = std::make_shared<ShowFlags>();
  verb->add_option("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input")->required();
  verb->add_option("--op", flags->skeleton.ops,
                   "Which ops: communication, computation, both (important) or all there are")
      ->transform(CLI::CheckedTransformer(kOps).description("{communication,computation,important,all}"))
      ->default_str("important");
  verb->add_flag("--name", flags->style.names, "Names of instructions");
  verb->add_flag("--topology", flags->style.topology, "Groups of devices as they are written");
  verb->add_flag("--fusion", flags->skeleton.inside_fusions, "What is inside fusions");
  verb->add_option("--depth", flags->style.depth, "So many levels of loops, branches and calls; 0: all")
      ->capture_default_str();
  flags->loops.AddTo(*verb);
  verb->add_flag("--json", flags->common.json, "A report for programs, on standard output");
  flags->common.AddTo(*verb);
  verb->footer(
      "Layers that repeat are folded: \"× 32:\" stands above one of 32. Totals are per device and step, with loops\n"
      "counted as often as they run.\n\n"
      "Examples:\n"
      "  shoal show module.hlo\n"
      "  shoal show --op=communication --topology module.hlo\n"
      "  shoal show --json module.hlo | jq '.totals[] | select(.kind == \"all-reduce\").times'");
  return [=] { return ShowVerb(*flags); };
}

}  // namespace shoal
