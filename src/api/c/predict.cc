#include "api/c/handles.h"

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_machine_load(const char* name, shoal_machine** out) {
  if (name == nullptr || out == nullptr) return Null("name and out");
  return GuardedC([&]() -> shoal_error* {
    auto machine = shoal::Machine::Load(name);
    if (!machine.ok()) return MakeCError(machine.error());
    *out = new shoal_machine{std::move(*machine)};
    return nullptr;
  });
}

shoal_error* shoal_machine_parse(const char* yaml, const char* name, shoal_machine** out) {
  if (yaml == nullptr || out == nullptr) return Null("yaml and out");
  return GuardedC([&]() -> shoal_error* {
    auto machine = shoal::Machine::Parse(yaml, name == nullptr ? "<memory>" : name);
    if (!machine.ok()) return MakeCError(machine.error());
    *out = new shoal_machine{std::move(*machine)};
    return nullptr;
  });
}

shoal_error* shoal_machine_set(shoal_machine* machine, const char* assignment) {
  if (machine == nullptr || assignment == nullptr) return Null("the machine and the assignment");
  return GuardedC([&]() -> shoal_error* {
    const shoal::Status set = machine->value.Set(assignment);
    return set.ok() ? nullptr : MakeCError(set.error());
  });
}

double shoal_machine_devices(const shoal_machine* machine) { return machine == nullptr ? 0 : machine->value.devices(); }
void shoal_machine_free(shoal_machine* machine) { delete machine; }

shoal_error* shoal_predict(const shoal_facts* facts, const shoal_machine* machine, shoal_prediction** out) {
  if (facts == nullptr || machine == nullptr || out == nullptr) return Null("the facts, the machine and out");
  return GuardedC([&]() -> shoal_error* {
    auto prediction = shoal::Predict(facts->value, machine->value);
    if (!prediction.ok()) return MakeCError(prediction.error());
    *out = new shoal_prediction{std::move(*prediction)};
    return nullptr;
  });
}

shoal_error* shoal_prediction_get(const shoal_prediction* prediction, shoal_prediction_info* out) {
  if (prediction == nullptr) return Null("the prediction");
  const shoal::Prediction& value = prediction->value;
  return WriteStruct({0, value.step_seconds, value.device_seconds, value.matrix_seconds, value.memory_seconds,
                      value.communication_seconds, value.copy_seconds, value.idle_seconds, value.model_flops_utilization,
                      value.ops.size()}, out);
}

shoal_error* shoal_prediction_op(const shoal_prediction* prediction, size_t index, shoal_predicted_op* out) {
  if (prediction == nullptr) return Null("the prediction");
  if (index >= prediction->value.ops.size()) return Wrong("the index exceeds the number of ops");
  const shoal::PredictedOp& op = prediction->value.ops[index];
  return WriteStruct({0, TextOf(op.instruction.name()), TextOf(op.kind), op.executions, op.seconds, op.flops, op.bytes}, out);
}

shoal_error* shoal_prediction_text(const shoal_prediction* prediction, shoal_string** out) {
  if (prediction == nullptr || out == nullptr) return Null("the prediction and out");
  return GuardedC([&] { return Give(prediction->value.ToText(), out); });
}

shoal_error* shoal_prediction_json(const shoal_prediction* prediction, shoal_string** out) {
  if (prediction == nullptr || out == nullptr) return Null("the prediction and out");
  return GuardedC([&] { return Give(prediction->value.ToJson(), out); });
}

shoal_error* shoal_prediction_trace(const shoal_prediction* prediction, shoal_string** out) {
  if (prediction == nullptr || out == nullptr) return Null("the prediction and out");
  return GuardedC([&] { return Give(prediction->value.trace.ToJson(), out); });
}

void shoal_prediction_free(shoal_prediction* prediction) { delete prediction; }

shoal_error* shoal_profile_read(const char* path, shoal_trace** out) {
  if (path == nullptr || out == nullptr) return Null("path and out");
  return GuardedC([&]() -> shoal_error* {
    auto trace = shoal::ReadProfile(path);
    if (!trace.ok()) return MakeCError(trace.error());
    *out = new shoal_trace{std::move(*trace)};
    return nullptr;
  });
}

shoal_error* shoal_prediction_match_json(const shoal_prediction* prediction, const shoal_trace* profile, shoal_string** out) {
  if (prediction == nullptr || profile == nullptr || out == nullptr) return Null("the prediction, the profile and out");
  return GuardedC([&]() -> shoal_error* {
    const auto match = shoal::Match(prediction->value, profile->value);
    return match.ok() ? Give(match->ToJson(), out) : MakeCError(match.error());
  });
}

void shoal_trace_free(shoal_trace* trace) { delete trace; }

}  // extern "C"
