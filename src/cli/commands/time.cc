#include "cli/commands/time.h"

#include "cli/commands/base.h"
#include "shoal/predict.h"

namespace shoal::cli {
namespace {

Result<std::vector<Machine>> MachinesOf(const TimeFlags& flags) {
  std::vector<Machine> machines;
  for (const std::string& name : flags.on) {
    Result<Machine> machine = Machine::Load(name);
    if (!machine.ok()) return machine.error();
    for (const std::string& assignment : flags.set)
      if (const Status set = machine->Set(assignment); !set.ok()) return set.error();
    machines.push_back(std::move(*machine));
  }
  return machines;
}

Result<Predictions> PredictFile(const TimeFlags& flags, const Module& module, const std::vector<Machine>& machines) {
  FactOptions options = flags.loops.ToFactOptions();
  options.num_replicas = flags.num_replicas;
  options.num_partitions = flags.num_partitions;
  options.backend = flags.backend;
  const Result<Facts> facts = Facts::Of(module, options);
  if (!facts.ok()) return facts.error();
  return Predict(*facts, machines, {flags.sweep, flags.top, flags.all, /*trace=*/!flags.trace.empty()});
}

// The comparison with the profile, as text or JSON.
Result<std::string> Compared(const TimeFlags& flags, const Prediction& prediction) {
  const Result<Trace> profile = ReadProfile(flags.against);
  if (!profile.ok()) return Error::OfArgument(profile.error().message());
  const Result<ProfileMatch> match = Match(prediction, *profile);
  if (!match.ok()) return match.error();
  if (match->mismatch.empty()) return TextOf(*match, flags.common);
  return Error::OfArgument(StrCat(flags.against, " is not a profile of ", flags.file, ": ", match->mismatch,
                                  "; use the module that ran, from --xla_dump_to (…after_optimizations.txt)"));
}

// The two modules side by side.
Result<std::string> BesideB(const TimeFlags& flags, const Predictions& a, const std::vector<Machine>& machines) {
  const Result<Module> module = ReadModule(flags.b, {flags.common.strict});
  if (!module.ok()) return module.error();
  const Result<Predictions> b = PredictFile(flags, *module, machines);
  if (!b.ok()) return b.error();
  const Result<View> both = SideBySide(a, *b);
  if (!both.ok()) return both.error();
  return TextOf(*both, flags.common);
}

Result<std::string> OutputOf(const TimeFlags& flags, const Predictions& predictions, const std::vector<Machine>& machines) {
  if (!flags.b.empty()) return BesideB(flags, predictions, machines);
  if (!flags.against.empty() && flags.explain.empty()) return Compared(flags, predictions.all.front());
  if (flags.explain.empty()) return TextOf(predictions, flags.common);
  const Result<View> explained = predictions.Explain(flags.explain);
  if (!explained.ok()) return explained.error();
  return TextOf(*explained, flags.common);
}

}  // namespace

int TimeCommand(const TimeFlags& flags) {
  if (!flags.b.empty() && (!flags.against.empty() || !flags.explain.empty() || !flags.trace.empty() || !flags.sweep.empty()))
    return FailOnUsage("two modules cannot be combined with --against, --explain, --trace or --sweep", flags.common);
  const Result<std::vector<Machine>> machines = MachinesOf(flags);
  if (!machines.ok()) return Fail(machines.error(), flags.common);
  const Result<Module> module = ReadModule(flags.file, {flags.common.strict});
  if (!module.ok()) return Fail(module.error(), flags.common);
  const Result<Predictions> predictions = PredictFile(flags, *module, *machines);
  if (!predictions.ok()) return Fail(predictions.error(), flags.common);
  if (!flags.trace.empty())
    if (const Status written = WriteOutput(flags.trace, predictions->all.front().trace.ToJson()); !written.ok())
      return Fail(written.error(), flags.common);
  if (flags.trace == "-") return kOk;
  const Result<std::string> output = OutputOf(flags, *predictions, *machines);
  return output.ok() ? Finish(*module, *output, flags.common) : Fail(output.error(), flags.common);
}

}  // namespace shoal::cli
