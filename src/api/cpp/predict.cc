#include "shoal/predict.h"

#include "api/cpp/predict_state.h"
#include "core/base/strings.h"
#include "formats/files/profile.h"
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

shoal::Prediction PublicPrediction(std::shared_ptr<const PredictionState> state) {
  const Prediction& forecast = state->report.forecasts.front();
  const SimulatedStep& step = forecast.prediction;
  shoal::Prediction out{MakeView([state](const auto& style) { return TimeText(state->report, style); },
                                 [state] { return TimeJson(state->report); })};
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
  out.trace = PublicTrace(step.trace);
  out.prediction = std::move(state);
  return out;
}

}  // namespace
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

std::string Machine::ToText() const { return MachineText(state_->machine, {}); }
std::string Machine::ToJson() const { return internal::MachinesJson({state_->machine}); }

std::string Trace::ToJson() const { return state == nullptr ? "" : TraceJson(state->trace); }

Result<Prediction> Predict(const Facts& facts, const Machine& machine) {
  return internal::Guarded([&]() -> Result<Prediction> {
    auto state = std::make_shared<internal::PredictionState>();
    state->facts = facts.state();
    const std::shared_ptr<const internal::ModuleFacts> shared(state->facts, &state->facts->facts);
    auto input = internal::PredictionInput::Of(shared);
    if (!input.ok()) return state->facts->module->MakeError(input.diag());
    state->input = std::move(*input);
    state->report.file = state->facts->file();
    state->report.input = state->input.get();
    state->report.assumptions = TimeNotes(*state->input, shared->devices().from);
    auto forecast = PredictOnMachine(*state->input, machine.state()->machine);
    if (!forecast.ok()) return internal::ArgumentError(forecast.diag().message);
    state->report.forecasts.push_back(std::move(*forecast));
    return internal::PublicPrediction(std::move(state));
  });
}

Result<View> Prediction::Explain(const std::string& name) const {
  if (prediction == nullptr) return internal::ArgumentError("the prediction is empty");
  return internal::Guarded([&]() -> Result<View> {
    if (ExplainText(prediction->report, name, {}).empty())
      return internal::ArgumentError(NoSuchOpMessage(prediction->report, name));
    return internal::MakeView(
        [state = prediction, name](const auto& style) { return ExplainText(state->report, name, style); },
        [state = prediction, name] { return ExplainJson(state->report, name); });
  });
}

Result<Trace> ReadProfile(const std::string& path) {
  return internal::Guarded([&]() -> Result<Trace> {
    auto trace = internal::ReadProfile(path);
    if (!trace.ok()) return internal::MakeError(trace.diag(), path, nullptr);
    return internal::PublicTrace(std::move(*trace));
  });
}

Result<ProfileMatch> Match(const Prediction& prediction, const Trace& profile) {
  if (prediction.prediction == nullptr || profile.state == nullptr)
    return internal::ArgumentError("the prediction or the profile is empty");
  return internal::Guarded([&]() -> Result<ProfileMatch> {
    const internal::PredictionState& state = *prediction.prediction;
    auto report = std::make_shared<internal::TimeReport>(state.report);
    report->against = CompareWith(state.step(), profile.state->trace);
    ProfileMatch match{internal::MakeView(
        [report, keep = prediction.prediction](const auto& style) { return ProfileComparisonText(*report, style); },
        [report, keep = prediction.prediction] { return TimeJson(*report); })};
    const internal::ProfileComparison& comparison = *report->against;
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
