// shoal diff: what changed in meaning between two modules.
#include <algorithm>

#include "analysis/assumptions.h"
#include "base/strings.h"
#include "base/units.h"
#include "cli/input.h"
#include "cli/loop_flags.h"
#include "cli/verbs.h"
#include "report/diff_report.h"

namespace shoal {
namespace {

struct DiffFlags {
  CommonFlags common;
  LoopFlags loops;
  std::string a, b;
  std::vector<std::string> thresholds;
  int64_t top = 8;
  bool exit_code = false;
};

int64_t ElidedConstants(const Module& module) {
  int64_t count = 0;
  for (const Computation* computation : module.computations)
    count += std::count_if(computation->instructions.begin(), computation->instructions.end(),
                           [](const Instruction* hlo) { return IsElided(*hlo); });
  return count;
}

// What is assumed of both is said once.
void AddAssumptions(const std::vector<std::string>& a, const std::vector<std::string>& b,
                    std::vector<std::string>& all) {
  auto has = [](const std::vector<std::string>& list, const std::string& sentence) {
    return std::find(list.begin(), list.end(), sentence) != list.end();
  };
  for (const std::string& sentence : a) all.push_back(StrCat(has(b, sentence) ? "A and B: " : "A: ", sentence));
  for (const std::string& sentence : b)
    if (!has(a, sentence)) all.push_back(StrCat("B: ", sentence));
}

int DiffVerb(const DiffFlags& flags) {
  DiffReport report;
  for (const std::string& text : flags.thresholds) {
    Result<Threshold> threshold = ParseThreshold(text);
    if (!threshold.ok()) return RefuseCall(threshold.diag().message, flags.common);
    report.thresholds.push_back(*threshold);
  }
  const Input a = ReadInput(flags.a, {flags.common.strict}), b = ReadInput(flags.b, {flags.common.strict});
  if (a.module == nullptr) return Refuse(a, flags.common);
  if (b.module == nullptr) return Refuse(b, flags.common);

  const int64_t elided = ElidedConstants(*a.module) + ElidedConstants(*b.module);
  const Result<ExecutionOptions> options = flags.loops.For({a.module.get(), b.module.get()});
  if (!options.ok()) return Refuse(a, options.diag(), flags.common);
  const DiffSide side_a(*a.module, *options, elided > 0), side_b(*b.module, *options, elided > 0);
  report.a = {flags.a, a.module.get(), TotalsOf(*a.module, side_a.executions)};
  report.changes = ChangesBetween(side_a, side_b);
  // The order in which a module without a schedule is taken to run is ours, and the same for both.
  const bool same = report.changes.empty() && !a.module->is_scheduled && !b.module->is_scheduled;
  report.b = {flags.b, b.module.get(), same ? report.a.totals : TotalsOf(*b.module, side_b.executions)};
  if (elided > 0)
    report.assumptions.push_back(
        StrCat(Counted(elided, "constant"), " without values in the text: large constants are compared by type alone"));
  AddAssumptions(AssumptionsOf(side_a.executions), AssumptionsOf(side_b.executions), report.assumptions);
  AddAssumptions(report.a.totals.assumptions, report.b.totals.assumptions, report.assumptions);
  const int status = Finish(a, flags.common.json ? DiffJson(report) : DiffText(report, flags.top), flags.common);
  SayWarnings(b, flags.common);
  if (status != kOk) return status;
  const bool broken = std::any_of(report.thresholds.begin(), report.thresholds.end(),
                                  [&](const Threshold& threshold) { return !report.Holds(threshold); });
  return broken || (flags.exit_code && !report.changes.empty()) ? kInputAtFault : kOk;
}

}  // namespace

Run AddDiff(Options& verb) {
  auto flags = std::make_shared<DiffFlags>();
  verb.Value("A", flags->a, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("B", flags->b, "The other one").Required();
  verb.Values("--threshold", flags->thresholds,
                   "FIGURE<=BOUND (also <, >=, >, ==): exit 1 unless it holds; +2% and -1GB bound the change, 80GB "
                   "bounds B's figure; may be repeated");
  verb.Flag("--exit-code", flags->exit_code, "Exit 1 if there is any difference");
  verb.Value("--top", flags->top, "So many rows of each kind of change; 0: all").NotNegative();
  flags->loops.AddTo(verb);
  flags->common.AddTo(verb);
  verb.Footer(
      "Instructions are matched by what they do. Names, the order of instructions and computations, channel numbers,\n"
      "metadata and how groups and shardings are written make no difference; the order of operands does. Differences\n"
      "alone do not change the exit status: --threshold and --exit-code do.\n\n"
      "Figures: instructions, flops, transcendentals, bytes, wire_bytes, collectives, peak_memory, and kinds of\n"
      "collective (all-reduce, …), per device and step.\n\n"
      "Examples:\n"
      "  shoal diff yesterday.hlo today.hlo\n"
      "  shoal diff --threshold='wire_bytes<=+2%' --threshold='peak_memory<80GB' yesterday.hlo today.hlo\n"
      "  shoal diff --json a.hlo b.pb | jq '.changes[].kind'");
  return [=] { return DiffVerb(*flags); };
}

}  // namespace shoal
