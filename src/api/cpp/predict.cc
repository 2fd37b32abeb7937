#include "shoal/predict.h"

#include "api/cpp/predict_state.h"
#include "core/base/strings.h"
#include "formats/files/profile.h"
#include "predict/timeline/sweep.h"
#include "present/reports/machines_report.h"

namespace shoal::internal {

shoal::Instruction ViewOf(const PredictionHandle& prediction, const Instruction& hlo) {
  const Origins& origins = prediction->input->origins();
  const auto origin = origins.find(&hlo);
  if (origin != origins.end() && origin->second != nullptr) return prediction->facts->View(*origin->second);
  // The prediction owns an instruction that a pass created, so the view keeps the prediction alive.
  return shoal::Instruction(ModuleHandle(prediction, prediction->facts->module.get()), &hlo);
}

namespace {

shoal::Trace PublicTrace(Trace trace) {
  shoal::Trace out;
  out.source = trace.source;
  out.devices = trace.devices;
  out.streams = trace.streams;
  for (const TraceEvent& event : trace.events)
    out.events.push_back({event.name, event.category, event.device, event.stream, event.start, event.duration});
  out.state = std::make_shared<const TraceState>(TraceState{std::move(trace)});
  return out;
}

// The text of one prediction must not show those on other machines.
shoal::View ReportViewOf(const PredictionHandle& state, size_t index) {
  const bool only = state->report.forecasts.size() == 1;
  return MakeView(
      [=](const auto& style) { return only ? TimeText(state->report, style) : TimeText(state->ReportOn(index), style); },
      [=] { return only ? TimeJson(state->report) : TimeJson(state->ReportOn(index)); });
}

shoal::Prediction PublicPrediction(const PredictionHandle& state, size_t index, bool with_trace) {
  const Prediction& forecast = state->report.forecasts[index];
  const SimulatedStep& step = forecast.prediction;
  shoal::Prediction out{ReportViewOf(state, index)};
  out.machine = forecast.machine.name;
  out.step_seconds = step.step_seconds;
  out.device_seconds = step.device_seconds;
  const auto kind = [&](TimeKind k) { return step.kinds[static_cast<size_t>(k)]; };
  out.matrix_seconds = kind(TimeKind::kMatrix);
  out.memory_seconds = kind(TimeKind::kMemory);
  out.communication_seconds = kind(TimeKind::kCommunication);
  out.copy_seconds = kind(TimeKind::kCopy);
  out.idle_seconds = kind(TimeKind::kIdle);
  out.model_flops_utilization = forecast.mfu;
  for (const OpTime& op : step.ops)
    out.ops.push_back({ViewOf(state, *op.hlo), std::string(ToString(op.kind)), op.times, op.seconds, op.flops, op.bytes});
  for (const AsyncTime& time : step.asyncs)
    out.transfers.push_back({ViewOf(state, *time.async->start), time.times, time.seconds, time.exposed});
  out.warnings = forecast.warnings;
  if (with_trace) out.trace = PublicTrace(step.trace);
  out.prediction = state;
  out.index = index;
  return out;
}

// Predicts the module on each machine.
shoal::Result<std::shared_ptr<PredictionState>> PredictOn(const FactsHandle& facts, const std::vector<Machine>& machines) {
  auto state = std::make_shared<PredictionState>();
  state->facts = facts;
  const std::shared_ptr<const ModuleFacts> shared(facts, &facts->facts);
  auto input = PredictionInput::Of(shared);
  if (!input.ok()) return facts->module->MakeError(input.diag());
  state->input = std::move(*input);
  state->report.file = facts->file();
  state->report.input = state->input.get();
  state->report.assumptions = TimeNotes(*state->input, shared->devices().from);
  for (const Machine& machine : machines) {
    auto forecast = PredictOnMachine(*state->input, machine);
    if (!forecast.ok()) return ArgumentError(forecast.diag().message);
    state->report.forecasts.push_back(std::move(*forecast));
  }
  return state;
}

shoal::Result<shoal::View> ExplainedView(const PredictionHandle& state, std::shared_ptr<const TimeReport> report, const std::string& name) {
  if (ExplainText(*report, name, {}).empty()) return ArgumentError(NoSuchOpMessage(*report, name));
  return MakeView([state, report, name](const auto& style) { return ExplainText(*report, name, style); },
                  [state, report, name] { return ExplainJson(*report, name); });
}

}  // namespace

TimeReport PredictionState::ReportOn(size_t machine) const {
  TimeReport one{.file = report.file, .input = report.input, .forecasts = {report.forecasts[machine]}, .sweep = {}, .points = {},
                 .assumptions = report.assumptions, .against = {}, .top = report.top, .all_ops = report.all_ops};
  return one;
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {
namespace {

Result<Machine> Made(internal::Result<internal::Machine> machine) {
  if (!machine.ok()) return internal::ArgumentError(machine.diag().message);
  return Machine(std::make_shared<const internal::MachineState>(internal::MachineState{std::move(*machine)}));
}

}  // namespace

Result<Machine> Machine::Load(const std::string& name) {
  return internal::Guarded([&]() -> Result<Machine> { return Made(internal::LoadMachine(name)); });
}

Result<Machine> Machine::Parse(const std::string& yaml, const std::string& name) {
  return internal::Guarded([&]() -> Result<Machine> { return Made(internal::ReadMachine(yaml, name)); });
}

std::vector<std::string> Machine::Names() {
  std::vector<std::string> names;
  for (const internal::Preset& preset : internal::Presets()) names.emplace_back(preset.name);
  return names;
}

Status Machine::Set(std::string_view assignment) {
  return internal::Guarded([&]() -> Status {
    internal::Machine changed = state_->machine;
    if (internal::Status set = SetMachineParameter(changed, assignment); !set.ok())
      return internal::ArgumentError(set.diag().message);
    state_ = std::make_shared<const internal::MachineState>(internal::MachineState{std::move(changed)});
    return Nothing();
  });
}

const std::string& Machine::name() const { return state_->machine.name; }
const std::string& Machine::description() const { return state_->machine.description; }
double Machine::devices() const { return state_->machine.devices(); }

std::vector<MachineParameter> Machine::parameters() const {
  internal::Machine machine = state_->machine;
  std::vector<MachineParameter> all;
  for (const internal::MachineParameter& parameter : internal::MachineParameters())
    all.push_back({parameter.name, parameter.unit, parameter.what, parameter.at(machine)});
  return all;
}

std::string Machine::ToText(const TextStyle& style) const { return MachineText(state_->machine, {style.width, style.color}); }
std::string Machine::ToJson() const { return internal::MachinesJson({state_->machine}); }
std::string Machine::ToYaml() const { return MachineYaml(state_->machine); }

View Machine::Catalogue() {
  auto machines = std::make_shared<std::vector<internal::Machine>>();
  for (const internal::Preset& preset : internal::Presets())
    if (auto machine = internal::LoadMachine(std::string(preset.name)); machine.ok()) machines->push_back(std::move(*machine));
  return internal::MakeView([machines](const auto& style) { return MachinesText(*machines, style); },
                            [machines] { return MachinesJson(*machines); });
}

View Machine::Keys() {
  return internal::MakeView([](const auto& style) { return internal::MachineKeysText(style); }, [] { return std::string(); });
}

std::string Trace::ToJson() const { return state == nullptr ? "" : TraceJson(state->trace); }

Result<Prediction> Predict(const Facts& facts, const Machine& machine) {
  return internal::Guarded([&]() -> Result<Prediction> {
    auto state = internal::PredictOn(facts.state(), {machine.state()->machine});
    if (!state.ok()) return state.error();
    return internal::PublicPrediction(*state, 0, /*with_trace=*/true);
  });
}

Result<Predictions> Predict(const Facts& facts, const std::vector<Machine>& machines, const PredictOptions& options) {
  return internal::Guarded([&]() -> Result<Predictions> {
    std::vector<internal::Machine> all;
    for (const Machine& machine : machines) all.push_back(machine.state()->machine);
    internal::Sweep sweep;
    if (!options.sweep.empty()) {
      if (all.size() != 1) return internal::ArgumentError("a sweep needs exactly one machine");
      auto parsed = internal::ParseSweep(all.front(), options.sweep);
      if (!parsed.ok()) return internal::ArgumentError(parsed.diag().message);
      sweep = std::move(*parsed);
      all = std::move(sweep.machines);
    }
    auto state = internal::PredictOn(facts.state(), all);
    if (!state.ok()) return state.error();
    internal::TimeReport& report = (*state)->report;
    if (const std::string reason = WhySweepIsConstant(sweep, *report.input, report.forecasts); !reason.empty())
      return internal::ArgumentError(reason);
    report.sweep = std::move(sweep.parameter);
    report.points = std::move(sweep.values);
    report.top = options.top;
    report.all_ops = options.all_ops;
    const internal::PredictionHandle shared = std::move(*state);
    Predictions out{internal::MakeView([shared](const auto& style) { return TimeText(shared->report, style); },
                                       [shared] { return TimeJson(shared->report); })};
    for (size_t i = 0; i < shared->report.forecasts.size(); ++i)
      out.all.push_back(internal::PublicPrediction(shared, i, options.trace));
    out.state = shared;
    return out;
  });
}

Result<View> Predictions::Explain(const std::string& name) const {
  if (state == nullptr) return internal::ArgumentError("there are no predictions");
  return internal::Guarded([&]() -> Result<View> { return internal::ExplainedView(state, {state, &state->report}, name); });
}

Result<View> SideBySide(const Predictions& a, const Predictions& b) {
  if (a.all.empty() || a.all.size() != b.all.size())
    return internal::ArgumentError("both modules need predictions on the same machines");
  return internal::MakeView(
      [a = a.state, b = b.state](const auto& style) { return TimePairText(a->report, b->report, style); },
      [a = a.state, b = b.state] { return TimePairJson(a->report, b->report); });
}

Result<View> Prediction::Explain(const std::string& name) const {
  if (prediction == nullptr) return internal::ArgumentError("the prediction is empty");
  return internal::Guarded([&]() -> Result<View> {
    return internal::ExplainedView(prediction, std::make_shared<internal::TimeReport>(prediction->ReportOn(index)), name);
  });
}

Result<Trace> ReadProfile(const std::string& path) {
  return internal::Guarded([&]() -> Result<Trace> {
    auto trace = internal::ReadProfile(path);
    if (!trace.ok()) return internal::MakeError(trace.diag(), path);
    return internal::PublicTrace(std::move(*trace));
  });
}

Result<ProfileMatch> Match(const Prediction& prediction, const Trace& profile) {
  if (prediction.prediction == nullptr || profile.state == nullptr)
    return internal::ArgumentError("the prediction or the profile is empty");
  return internal::Guarded([&]() -> Result<ProfileMatch> {
    auto report = std::make_shared<internal::TimeReport>(prediction.prediction->ReportOn(prediction.index));
    report->against = CompareWith(report->forecasts.front().prediction, profile.state->trace);
    ProfileMatch match{internal::MakeView(
        [report, keep = prediction.prediction](const auto& style) { return ProfileComparisonText(*report, style); },
        [report, keep = prediction.prediction] { return TimeJson(*report); })};
    const internal::ProfileComparison& comparison = *report->against;
    match.mismatch = WhyProfileDiffers(comparison);
    match.steps = comparison.steps;
    match.predicted_seconds = comparison.predicted;
    match.measured_seconds = comparison.measured;
    match.unmatched_seconds = comparison.unmatched;
    for (const internal::MeasuredOp& op : comparison.ops)
      match.ops.push_back({ViewOf(prediction.prediction, *op.hlo), op.predicted, op.measured});
    return match;
  });
}

}  // namespace shoal::inline v0_1
