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
  if (input.module == nullptr) return Refuse(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.For({input.module.get()});
  if (!options.ok()) return Refuse(input, options.diag(), flags.common);
  const Executions executions(*input.module, *options);
  CostReport report{flags.file, input.module.get(), CostOf(*input.module, executions), flags.by, flags.top,
                    AssumptionsOf(executions)};
  const std::vector<std::string> unpriced = AssumptionsOf(report.cost);
  report.assumptions.insert(report.assumptions.end(), unpriced.begin(), unpriced.end());
  return Finish(input, flags.common.json ? CostJson(report) : CostText(report), flags.common);
}

}  // namespace

Run AddCost(Options& verb) {
  auto flags = std::make_shared<CostFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--by", flags->by, "What a row is")
      .OneOf({"op", "opcode", "computation", "line", "op_name"});
  verb.Value("--top", flags->top, "So many rows; 0: all").NotNegative();
  flags->loops.AddTo(verb);
  flags->common.AddTo(verb);
  verb.Footer(
      "Figures are per device and step. The line about XLA equals HloCostAnalysis, which counts loop bodies once.\n\n"
      "Examples:\n"
      "  shoal cost module.hlo\n"
      "  shoal cost --by=line --top=10 module.hlo\n"
      "  shoal cost --json module.hlo | jq .total.flops");
  return [=] { return CostVerb(*flags); };
}

}  // namespace shoal
