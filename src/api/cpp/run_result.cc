// What a run prints and writes.
#include "api/cpp/execute_state.h"
#include "kernels/linalg/machine_peak.h"
#include "present/reports/compare_report.h"
#include "present/reports/run_profile.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

// The arrays of each device as one tuple.
std::vector<Value> ResultsOf(const RunResult& run) {
  std::vector<Value> results;
  for (const std::vector<shoal::Buffer>& device : run.outputs) {
    std::vector<Value> leaves;
    for (const shoal::Buffer& buffer : device) leaves.push_back(buffer.empty() ? Value() : Value(buffer.state()->array));
    results.push_back(Value::Tuple(std::move(leaves)));
  }
  return results;
}

// The report of `shoal run`.
RunReport ReportOf(const RunResult& run) {
  const RunState& state = *run.state;
  const ExecutableState& executable = *state.executable;
  RunReport report = state.report;
  report.file = executable.module->name();
  report.devices = executable.devices;
  report.inputs = run.inputs;
  report.processes = executable.job.Describe();
  report.numerics = executable.numerics;
  report.compile_seconds = executable.compile_seconds();
  report.run_seconds = run.run_seconds.empty() ? std::vector<double>{run.seconds} : run.run_seconds;
  report.text = executable.module->file.text();
  if (report.outputs.empty()) report.outputs = GroupEqualOutputs(ResultsOf(run));
  return report;
}

RunProfile ProfileOf(const RunState& state) {
  return {state.executable->module->name(), &state.executable->executable->running_module(), state.executable->devices.grid,
          state.log.get(), state.executable->module->own_packages, 0, 0};
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::string RunResult::ToText(const TextStyle& style) const {
  return state == nullptr ? "" : ReportText(internal::ReportOf(*this), {style.width, style.color});
}
std::string RunResult::ToJson() const { return state == nullptr ? "" : ReportJson(internal::ReportOf(*this)); }
std::string RunResult::ToLiterals() const { return state == nullptr ? "" : ReportLiterals(internal::ReportOf(*this)); }

std::string RunResult::WarningText(const DiagStyle& style) const {
  if (state == nullptr) return {};
  const internal::ModuleState& module = *state->executable->module;
  return internal::LocatedDiags{state->warnings, module.file.path, module.text()}.ToText(style);
}

std::string RunResult::SnapshotText(const TextStyle& style) const {
  if (state == nullptr || !state->report.snapshot) return {};
  const internal::ExecutableState& executable = *state->executable;
  const internal::CompareReport report{"the snapshot's result",
                                       internal::StrCat(executable.module->name(), " on ", executable.devices.from), {}, {},
                                       *state->report.snapshot};
  return CompareText(report, {style.width, style.color});
}

Status RunResult::WriteOutputs(const std::string& folder) const {
  if (state == nullptr) return internal::ArgumentError("there is no result");
  return internal::Guarded([&]() -> Status {
    const internal::Placement* placement = state->has_all_outputs ? nullptr : state->executable->placement();
    const internal::Status written = internal::WriteOutputs(internal::ResultsOf(*this), folder, placement);
    return written.ok() ? Status(Nothing()) : Status(state->executable->module->MakeError(written.diag()));
  });
}

std::string RunResult::ProfileText(const TextStyle& style, bool peak) const {
  if (state == nullptr || state->log == nullptr) return {};
  internal::RunProfile profile = internal::ProfileOf(*state);
  if (peak) {
    const internal::MachinePeak measured = internal::MeasurePeak(*state->executable->pool);
    profile.peak_flops = measured.flops;
    profile.peak_bytes = measured.bytes;
  }
  return internal::ProfileText(profile, {style.width, style.color});
}
std::string RunResult::ProfileTrace() const {
  return state == nullptr || state->log == nullptr ? "" : TraceJson(internal::ProfileTrace(internal::ProfileOf(*state)));
}

}  // namespace shoal::inline v0_1
