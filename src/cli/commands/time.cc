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

}  // namespace

int TimeCommand(const TimeFlags& flags) {
  TimeReport report{.file = flags.file, .input = nullptr, .forecasts = {}, .sweep = {}, .points = {}, .assumptions = {},
                    .against = {}, .top = flags.top, .all_ops = flags.all};
  Result<std::vector<Machine>> machines = MachinesOf(flags, report);
  if (!machines.ok()) return FailOnUsage(machines.diag().message, flags.common);
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({input.module.get()});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const auto facts = std::make_shared<const ModuleFacts>(
      *input.module, FactOptions{*options, flags.num_replicas, flags.num_partitions, std::nullopt});
  auto forecast_input = PredictionInput::Of(facts);
  if (!forecast_input.ok()) return FailOnInput(input, forecast_input.diag(), flags.common);
  report.input = forecast_input->get();
  report.assumptions = TimeNotes(*report.input, facts->devices().from);
  for (const Machine& machine : *machines) {
    Result<Prediction> forecast = PredictOnMachine(*report.input, machine);
    if (!forecast.ok()) return FailOnUsage(forecast.diag().message, flags.common);
    report.forecasts.push_back(std::move(*forecast));
  }
  if (!flags.trace.empty() && !report.forecasts.empty())
    if (Status written = WriteOutput(flags.trace, TraceJson(report.forecasts.front().prediction.trace)); !written.ok())
      return FailOnUsage(written.diag().message, flags.common);
  if (flags.trace == "-") return kOk;
  if (!flags.against.empty()) {
    Result<Trace> profile = ReadProfile(flags.against);
    if (!profile.ok()) return FailOnUsage(profile.diag().message, flags.common);
    report.against = CompareWith(report.forecasts.front().prediction, *profile);
  }
  std::string text;
  if (!flags.explain.empty()) {
    text = flags.common.json ? ExplainJson(report, flags.explain) : ExplainText(report, flags.explain, OutputStyle());
    if (text.empty()) return FailOnUsage(NoSuchOpMessage(report, flags.explain), flags.common);
  } else {
    text = flags.common.json ? TimeJson(report) : report.against ? ProfileComparisonText(report, OutputStyle()) : TimeText(report, OutputStyle());
  }
  return Finish(input, text, flags.common);
}

}  // namespace shoal::internal
