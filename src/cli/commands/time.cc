#include "cli/commands/time.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"
#include "formats/files/profile.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxPoints = 1000;

// The machines to predict on: those of --on; with --sweep, the machine of --on at each point of the sweep.
Result<std::vector<Machine>> MachinesOf(const TimeFlags& flags, TimeReport& report) {
  std::vector<Machine> machines;
  for (const std::string& name : flags.on) {
    SHOAL_ASSIGN(machine, LoadMachine(name));
    for (const std::string& assignment : flags.set) SHOAL_TRY(SetMachineParameter(machine, assignment));
    machines.push_back(std::move(machine));
  }
  if (flags.sweep.empty()) return machines;
  const size_t equals = flags.sweep.find('=');
  if (equals == std::string::npos || machines.size() != 1)
    return Fail("--sweep needs PARAM=V1,V2,… and exactly one machine, as in --sweep nodes=1,2,4");
  report.sweep = flags.sweep.substr(0, equals);
  std::string_view values = std::string_view(flags.sweep).substr(equals + 1);
  std::vector<Machine> points;
  while (!values.empty()) {
    const size_t comma = std::min(values.find(','), values.size());
    report.points.emplace_back(values.substr(0, comma));
    Machine machine = machines.front();
    SHOAL_TRY(SetMachineParameter(machine, StrCat(report.sweep, "=", report.points.back())));
    points.push_back(std::move(machine));
    values.remove_prefix(std::min(values.size(), comma + 1));
    if (points.size() > kMaxPoints) return Fail(StrCat("--sweep takes at most ", kMaxPoints, " values"));
  }
  return points;
}

bool IsEqual(const Prediction& a, const Prediction& b) {
  const bool fits_alike = (a.memory_needed > a.machine.device.memory) == (b.memory_needed > b.machine.device.memory);
  return a.prediction.step_seconds == b.prediction.step_seconds && a.prediction.kinds == b.prediction.kinds && fits_alike &&
         a.scale_out == b.scale_out;
}

// The reason why no point of the sweep changes the prediction. Empty if some point does.
std::string WhySweepIsConstant(const TimeReport& report) {
  const std::vector<Prediction>& all = report.forecasts;
  if (report.sweep.empty() || all.size() < 2) return {};
  for (const Prediction& one : all)
    if (!IsEqual(one, all.front())) return {};
  const std::string_view name = FindMachineParameter(report.sweep)->name;
  const Machine& machine = all.front().machine;
  std::string reason = StrCat("no kernel or collective of this module is limited by ", name);
  if (report.input->facts().collectives().all.empty() && !name.starts_with("device."))
    reason = "the module has no collectives";
  else if (name.starts_with("cluster.") && machine.node.links != NodeLinks::kTorus)
    reason = StrCat("all groups of the module's ", report.input->devices(), " devices fit in one node of ",
                    machine.devices_per_node(), ", so the network between nodes is not used");
  return StrCat("--sweep ", report.sweep, " does not change the prediction: ", reason);
}

// Predicts the second module on the same machines, and prints both side by side.
int TimePair(const TimeFlags& flags, const std::vector<Machine>& machines, const TimeReport& first, const Input& input) {
  TimeReport report{.file = flags.b, .input = nullptr, .forecasts = {}, .sweep = {}, .points = {}, .assumptions = {},
                    .against = {}, .top = flags.top, .all_ops = flags.all};
  const Input second = ReadInput(flags.b, {flags.common.strict});
  if (second.module == nullptr) return FailOnInput(second, flags.common);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({input.module.get(), second.module.get()});
  if (!options.ok()) return FailOnInput(second, options.diag(), flags.common);
  const auto facts = std::make_shared<const ModuleFacts>(
      *second.module, FactOptions{*options, flags.num_replicas, flags.num_partitions, ParseBackend(flags.backend)});
  auto forecast_input = PredictionInput::Of(facts);
  if (!forecast_input.ok()) return FailOnInput(second, forecast_input.diag(), flags.common);
  report.input = forecast_input->get();
  report.assumptions = TimeNotes(*report.input, facts->devices().from);
  for (const Machine& machine : machines) {
    Result<Prediction> forecast = PredictOnMachine(*report.input, machine);
    if (!forecast.ok()) return FailOnUsage(forecast.diag().message, flags.common);
    report.forecasts.push_back(std::move(*forecast));
  }
  return Finish(input, flags.common.json ? TimePairJson(first, report) : TimePairText(first, report, OutputStyle()), flags.common);
}

}  // namespace

int TimeCommand(const TimeFlags& flags) {
  if (!flags.b.empty() && (!flags.against.empty() || !flags.explain.empty() || !flags.trace.empty() || !flags.sweep.empty()))
    return FailOnUsage("two modules cannot be combined with --against, --explain, --trace or --sweep", flags.common);
  TimeReport report{.file = flags.file, .input = nullptr, .forecasts = {}, .sweep = {}, .points = {}, .assumptions = {},
                    .against = {}, .top = flags.top, .all_ops = flags.all};
  Result<std::vector<Machine>> machines = MachinesOf(flags, report);
  if (!machines.ok()) return FailOnUsage(machines.diag().message, flags.common);
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({input.module.get()});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const auto facts = std::make_shared<const ModuleFacts>(
      *input.module, FactOptions{*options, flags.num_replicas, flags.num_partitions, ParseBackend(flags.backend)});
  auto forecast_input = PredictionInput::Of(facts);
  if (!forecast_input.ok()) return FailOnInput(input, forecast_input.diag(), flags.common);
  report.input = forecast_input->get();
  report.assumptions = TimeNotes(*report.input, facts->devices().from);
  for (const Machine& machine : *machines) {
    Result<Prediction> forecast = PredictOnMachine(*report.input, machine);
    if (!forecast.ok()) return FailOnUsage(forecast.diag().message, flags.common);
    report.forecasts.push_back(std::move(*forecast));
  }
  if (const std::string reason = WhySweepIsConstant(report); !reason.empty()) return FailOnUsage(reason, flags.common);
  if (!flags.trace.empty() && !report.forecasts.empty())
    if (Status written = WriteOutput(flags.trace, TraceJson(report.forecasts.front().prediction.trace)); !written.ok())
      return FailOnUsage(written.diag().message, flags.common);
  if (flags.trace == "-") return kOk;
  if (!flags.against.empty()) {
    Result<Trace> profile = ReadProfile(flags.against);
    if (!profile.ok()) return FailOnUsage(profile.diag().message, flags.common);
    report.against = CompareWith(report.forecasts.front().prediction, *profile);
    if (const std::string reason = WhyProfileDiffers(*report.against); !reason.empty())
      return FailOnUsage(StrCat(flags.against, " is not a profile of ", flags.file, ": ", reason,
                                "; use the module that ran, from --xla_dump_to (…after_optimizations.txt)"), flags.common);
  }
  std::string text;
  if (!flags.b.empty()) return TimePair(flags, *machines, report, input);
  if (!flags.explain.empty()) {
    text = flags.common.json ? ExplainJson(report, flags.explain) : ExplainText(report, flags.explain, OutputStyle());
    if (text.empty()) return FailOnUsage(NoSuchOpMessage(report, flags.explain), flags.common);
  } else {
    text = flags.common.json ? TimeJson(report) : report.against ? ProfileComparisonText(report, OutputStyle()) : TimeText(report, OutputStyle());
  }
  return Finish(input, text, flags.common);
}

}  // namespace shoal::internal
