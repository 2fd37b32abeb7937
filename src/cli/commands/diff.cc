#include "cli/commands/diff.h"

#include <algorithm>

#include "cli/commands/base.h"
#include "shoal/diff.h"

namespace shoal::cli {

int DiffCommand(const DiffFlags& flags) {
  for (const std::string& text : flags.thresholds)
    if (text.starts_with("step_seconds") && flags.on.empty())
      return FailOnUsage(StrCat("the threshold ", text, " needs a machine: --on=h100x8"), flags.common);
  DiffOptions options{flags.thresholds, flags.top};
  if (!flags.on.empty()) {
    Result<Machine> machine = Machine::Load(flags.on);
    if (!machine.ok()) return Fail(machine.error(), flags.common);
    options.machine = std::move(*machine);
  }
  const Result<Module> a = ReadModule(flags.a, {flags.common.strict}), b = ReadModule(flags.b, {flags.common.strict});
  for (const Result<Module>* module : {&a, &b})
    if (!module->ok()) return Fail(module->error(), flags.common);
  const Result<std::pair<Facts, Facts>> facts = Facts::OfPair(*a, *b, flags.loops.ToFactOptions());
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<ModuleDiff> diff = Diff(facts->first, facts->second, options);
  if (!diff.ok()) return Fail(diff.error(), flags.common);
  const int status = Finish(*a, TextOf(*diff, flags.common), flags.common);
  PrintWarnings(*b, flags.common);
  if (status != kOk) return status;
  return !diff->exceeded.empty() || (flags.exit_code && !diff->changes.empty()) ? kCheckFailed : kOk;
}

}  // namespace shoal::cli
