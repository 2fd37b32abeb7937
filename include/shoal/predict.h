// Machines, and the time of a step on them.
#pragma once

#include "shoal/facts.h"

namespace shoal::internal {
struct MachineState;
struct PredictionState;
struct TraceState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

struct MachineParameter {
  std::string_view name = {}, unit = {}, description = {};
  double value = 0;
};

// A machine of the catalogue, or one described in YAML (machines/*.yaml).
class SHOAL_API Machine {
 public:
  // By name ("h100", "h100x8", "h100x8x64", "tpu-v5p-4x4x8"), or from a YAML file.
  static Result<Machine> Load(const std::string& name);
  // From YAML text; errors name `name`.
  static Result<Machine> Parse(const std::string& yaml, const std::string& name = "<memory>");
  // The names of the catalogue.
  static std::vector<std::string> Names();

  // Applies an assignment, such as "nic=100GB/s". Fails if the parameter is unknown or the value malformed.
  Status Set(std::string_view assignment);

  const std::string& name() const;
  const std::string& description() const;
  double devices() const;
  std::vector<MachineParameter> parameters() const;
  // What `shoal machines NAME` prints.
  std::string ToText(const TextStyle& style = {}) const;
  std::string ToJson() const;
  // A file that Load accepts.
  std::string ToYaml() const;
  // A table of the catalogue, and one of the keys of a machine file.
  static View Catalogue();
  static View Keys();

  explicit Machine(std::shared_ptr<const internal::MachineState> state) : state_(std::move(state)) {}
  const std::shared_ptr<const internal::MachineState>& state() const { return state_; }

 private:
  std::shared_ptr<const internal::MachineState> state_;
};

// Timed events on each device and stream.
struct TraceEvent {
  std::string name = {}, category = {};
  int64_t device = 0, stream = 0;
  double start = 0, duration = 0;  // seconds
};
struct SHOAL_API Trace {
  std::string source = {};
  std::vector<std::string> devices = {}, streams = {};
  std::vector<TraceEvent> events = {};

  // For Perfetto and Chrome.
  std::string ToJson() const;

  std::shared_ptr<const internal::TraceState> state = {};
};

// The time of an instruction, over the whole step.
struct PredictedOp {
  Instruction instruction;
  std::string kind = {};  // matrix, memory, communication, copy
  double executions = 0, seconds = 0, flops = 0, bytes = 0;
};
// The time of a collective or an asynchronous copy, over the whole step.
struct PredictedTransfer {
  Instruction instruction;
  double executions = 0, seconds = 0;
  double exposed_seconds = 0;  // in which the device waits for it
};

struct Prediction : View {
  std::string machine = {};
  double step_seconds = 0;    // the whole step
  double device_seconds = 0;  // in which the device computes or waits for transfers
  double matrix_seconds = 0, memory_seconds = 0, communication_seconds = 0, copy_seconds = 0, idle_seconds = 0;
  double model_flops_utilization = 0;
  std::vector<PredictedOp> ops = {};              // of the slowest class of devices, longest first
  std::vector<PredictedTransfer> transfers = {};  // most exposed first
  std::vector<std::string> warnings = {};
  Trace trace = {};

  // Why an op or a collective takes its time. Fails if no op of this name takes time.
  SHOAL_API Result<View> Explain(const std::string& name) const;

  std::shared_ptr<const internal::PredictionState> prediction = {};
  size_t index = 0;  // in it
};

// The predicted time of a step. Fails if the machine is too small, or if the module is not partitioned yet.
SHOAL_API Result<Prediction> Predict(const Facts& facts, const Machine& machine);

struct PredictOptions {
  // "nodes=1,2,4": predict for each of these values of a parameter of the only machine. An error if none of them changes
  // the prediction.
  std::string sweep = {};
  size_t top = 10;       // ops and source lines in the text and in the JSON; 0: all
  bool all_ops = false;  // in the JSON: every op, with the terms of its time
  bool trace = true;     // the timelines of the predictions
};
// The predictions of one module on several machines, side by side.
struct Predictions : View {
  std::vector<Prediction> all = {};  // in the order of the machines, or of the values of the sweep

  // Why an op or a collective takes its time on each machine.
  SHOAL_API Result<View> Explain(const std::string& name) const;

  std::shared_ptr<const internal::PredictionState> state = {};
};
SHOAL_API Result<Predictions> Predict(const Facts& facts, const std::vector<Machine>& machines, const PredictOptions& options);
// The predictions of two modules on the same machines.
SHOAL_API Result<View> SideBySide(const Predictions& a, const Predictions& b);

// Reads a profile: JAX (.xplane.pb, .json.gz) or one of `shoal run --profile`.
SHOAL_API Result<Trace> ReadProfile(const std::string& path);

struct MeasuredOp {
  Instruction instruction;
  double predicted_seconds = 0, measured_seconds = 0;  // per step
};
struct ProfileMatch : View {
  double steps = 1;  // in the profile
  double predicted_seconds = 0, measured_seconds = 0;
  double unmatched_seconds = 0;  // of events that belong to no instruction
  std::vector<MeasuredOp> ops = {};   // largest error first
  std::string mismatch = {};  // the reason why the profile is that of another module; empty: it is not
};
SHOAL_API Result<ProfileMatch> Match(const Prediction& prediction, const Trace& profile);

}  // namespace shoal::inline v0_1
