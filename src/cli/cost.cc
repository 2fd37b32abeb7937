// shoal cost: flops, transcendentals and bytes, with loops counted as often as they run.
#include "analysis/assumptions.h"
#include "cli/input.h"
#include "cli/loop_flags.h"
#include "cli/verbs.h"
#include "report/cost_report.h"

namespace shoal {
namespace {

struct CostFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string file, by = "op";
  int64_t top = 20;
};

int CostVerb(const CostFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  Report(input, flags.common);
  if (input.module == nullptr) return kInputAtFault;
  const Executions executions(*input.module, flags.loops.Options());
  CostReport report{flags.file, input.module.get(), CostOf(*input.module, executions), flags.by, flags.top,
                    AssumptionsOf(executions)};
  const std::vector<std::string> unpriced = AssumptionsOf(report.cost);
  report.assumptions.insert(report.assumptions.end(), unpriced.begin(), unpriced.end());
  return WriteOutput("", flags.common.json ? CostJson(report) : CostText(report)).ok() ? kOk : kCallAtFault;
}

}  // namespace

Run AddCost(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("cost", "Say what a module computes and moves, with loops counted as they run");
  auto flags = std::make_shared<CostFlags>();
  verb->add_option("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input")->required();
  verb->add_option("--by", flags->by, "What a row is")
      ->check(CLI::IsMember({"op", "opcode", "computation", "line", "op_name"}))
      ->capture_default_str();
  verb->add_option("--top", flags->top, "So many rows; 0: all")->capture_default_str();
  flags->loops.AddTo(*verb);
  verb->add_flag("--json", flags->common.json, "A report for programs, on standard output");
  flags->common.AddTo(*verb);
  verb->footer(
      "Figures are per device and step. The line about XLA equals HloCostAnalysis, which counts loop bodies once.\n\n"
      "Examples:\n"
      "  shoal cost module.hlo\n"
      "  shoal cost --by=line --top=10 module.hlo\n"
      "  shoal cost --json module.hlo | jq .total.flops");
  return [=] { return CostVerb(*flags); };
}

}  // namespace shoal
