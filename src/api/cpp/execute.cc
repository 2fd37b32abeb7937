#include <utility>

#include "analyze/facts/instruction_count.h"
#include "api/cpp/arguments.h"
#include "core/base/environment_error.h"
#include "core/base/strings.h"
#include "execute/interp/run.h"
#include "execute/runtime/observers.h"
#include "execute/runtime/run_warnings.h"
#include "present/reports/run_profile.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

using RunFlags = shoal::ExecuteOptions;
using ExecutableHandle = std::shared_ptr<const ExecutableState>;

// The arrays of a value; a token is an empty buffer.
std::vector<shoal::Buffer> ArraysOf(const Value& value) { return std::move(BuffersOf({value})[0]); }

// A view of an instruction that runs, which may be one of a copy of the user's module.
shoal::Instruction ViewOf(const ExecutableHandle& executable, const Instruction& hlo) {
  return shoal::Instruction(ModuleHandle(executable, executable->module.get()), &hlo);
}

// Passes each value to the user.
class CallbackObserver final : public Observer {
 public:
  CallbackObserver(ExecutableHandle executable, const std::function<bool(const ObservedValue&)>& call)
      : executable_(std::move(executable)), call_(call) {}

  Status OnValue(const Device& device, const Instruction& hlo, const Value& value) override {
    if (value.IsPending()) return {};
    const std::vector<shoal::Buffer> arrays = ArraysOf(value);
    if (call_({device.id(), ViewOf(executable_, hlo), arrays})) return {};
    return Fail(hlo.at, kRunCancelled, StrCat("the run was stopped at ", hlo.name));
  }

 private:
  const ExecutableHandle executable_;
  const std::function<bool(const ObservedValue&)>& call_;
};

// The observers of a run.
struct RunObservers {
  std::unique_ptr<Observer> nan_check, callback, all;

  RunObservers(const ExecutableHandle& executable, const RunFlags& options) {
    std::vector<Observer*> each;
    if (options.check_nans) {
      nan_check = NewNanCheck(executable->executable->running_module(), executable->devices.grid.count());
      each.push_back(nan_check.get());
    }
    if (options.on_value) {
      callback = std::make_unique<CallbackObserver>(executable, options.on_value);
      each.push_back(callback.get());
    }
    if (!each.empty()) all = NewObservers(each);
  }
};

// Calls options.progress while the devices run.
Watch WatchFor(const RunFlags& options, const Executable& executable) {
  if (!options.progress) return {};
  const auto start = std::chrono::steady_clock::now();
  const double expected =
      EstimateInstructionCount(executable.running_module()) * static_cast<double>(executable.grid().count());
  return [&options, expected, start](std::span<const std::unique_ptr<Device>> running) {
    RunProgress progress;
    progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.expected_instructions = expected;
    for (const auto& device : running)
      progress.instructions += static_cast<double>(device->progress().instructions.load(std::memory_order_relaxed));
    options.progress(progress);
  };
}

RunSettings SettingsOf(const RunFlags& options, const ExecutableState& state, Observer* observer) {
  RunSettings settings;
  settings.pool = state.is_compiled() ? state.pool.get() : nullptr;
  settings.cancel = options.stop;
  settings.watch = WatchFor(options, *state.executable);
  settings.donate_arguments = true;
  settings.stub_custom_calls = options.stub_custom_calls;
  settings.random_seed = options.random_seed;
  settings.observer = observer;
  settings.max_instructions = options.max_instructions;
  settings.max_bytes = options.max_bytes;
  settings.max_seconds = options.max_seconds;
  return settings;
}

std::vector<std::vector<CollectiveTraffic>> PublicTraffic(const RunStats& stats) {
  std::vector<std::vector<CollectiveTraffic>> all;
  for (const std::map<Opcode, Traffic>& device : stats.traffic) {
    std::vector<CollectiveTraffic>& kinds = all.emplace_back();
    for (const auto& [kind, traffic] : device)
      kinds.push_back({std::string(Info(kind).text), traffic.calls, traffic.payload_bytes, traffic.wire_bytes});
  }
  return all;
}

RunResult MakeRun(std::shared_ptr<RunState> state, RunOutcome outcome) {
  const ExecutableHandle& executable = state->executable;
  RunResult run;
  run.seconds = outcome.stats.seconds;
  run.instructions = outcome.stats.instructions;
  run.iterations = outcome.stats.iterations;
  run.peak_bytes = outcome.stats.peak_bytes;
  run.traffic = PublicTraffic(outcome.stats);
  Diags& diags = state->report.diags;
  diags = executable->diags;
  const Diags warnings = RunWarnings(outcome.stats, executable->mixed);
  for (const Diag& diag : warnings.found()) diags.Add(diag);
  run.warnings = LocatedDiags{diags, executable->module->file.path, executable->module->text()}.ToPublic();
  run.outputs = BuffersOf(outcome.results);
  state->report.stats = std::move(outcome.stats);
  run.state = std::move(state);
  return run;
}

}  // namespace

shoal::Result<RunOutcome> RunArguments(const ExecutableHandle& executable, Arguments arguments,
                                       const shoal::ExecuteOptions& options, Observer* observer) {
  if (options.max_instructions < 0 || options.max_bytes < 0 || !(options.max_seconds >= 0))
    return ArgumentError("the limits of a run must not be negative");
  RunSettings settings = SettingsOf(options, *executable, observer);
  if (options.on_outfeed)
    settings.outfeed = [&](const Device& device, const Instruction& hlo, const Value& value) {
      const std::vector<shoal::Buffer> arrays = ArraysOf(value);
      options.on_outfeed({device.id(), ViewOf(executable, hlo), arrays});
      return Status();
    };
  Result<RunOutcome> outcome = executable->executable->Run(std::move(arguments), std::move(settings));
  if (!outcome.ok()) return executable->module->MakeError(outcome.diag());
  return std::move(*outcome);
}

namespace {

shoal::Result<RunResult> ExecuteNow(const ExecutableHandle& executable, Buffers buffers, const RunFlags& options) {
  shoal::Result<Arguments> arguments = ArgumentsOf(std::move(buffers), *executable);
  if (!arguments.ok()) return arguments.error();
  auto state = std::make_shared<RunState>();
  state->executable = executable;
  if (options.check_nans || options.on_value) {
    if (!executable->is_observable) return ArgumentError("check_nans and on_value need CompileOptions::observable");
    if (options.profile) return ArgumentError("profile cannot be combined with check_nans and on_value");
  }
  const RunObservers observers(executable, options);
  if (options.profile) state->log = std::make_unique<StepLog>(executable->devices.grid.count());
  shoal::Result<RunOutcome> outcome = RunArguments(
      executable, std::move(*arguments), options, state->log != nullptr ? state->log.get() : observers.all.get());
  if (!outcome.ok()) return outcome.error();
  return MakeRun(std::move(state), std::move(*outcome));
}

// The report of `shoal run`.
RunReport ReportOf(const RunResult& run, bool with_outputs) {
  const RunState& state = *run.state;
  RunReport report = state.report;
  report.file = state.executable->module->file.path;
  report.devices = state.executable->devices;
  report.numerics = state.executable->numerics;
  report.compile_seconds = state.executable->compile_seconds();
  report.run_seconds = {run.seconds};
  report.text = state.executable->module->file.text();
  if (!with_outputs) return report;
  std::vector<Value> results;
  for (const std::vector<shoal::Buffer>& device : run.outputs) {
    std::vector<Value> leaves;
    for (const shoal::Buffer& buffer : device) leaves.push_back(buffer.empty() ? Value() : Value(buffer.state()->array));
    results.push_back(Value::Tuple(std::move(leaves)));
  }
  report.outputs = GroupEqualOutputs(results);
  return report;
}

RunProfile ProfileOf(const RunState& state) {
  return {state.executable->module->file.path, &state.executable->executable->running_module(), state.executable->devices.grid,
          state.log.get(), 0, 0};
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::string RunResult::ToText() const { return state == nullptr ? "" : ReportText(internal::ReportOf(*this, true), {}); }
std::string RunResult::ToJson() const { return state == nullptr ? "" : ReportJson(internal::ReportOf(*this, true)); }
std::string RunResult::ToLiterals() const { return state == nullptr ? "" : ReportLiterals(internal::ReportOf(*this, true)); }
std::string RunResult::ProfileText() const {
  return state == nullptr || state->log == nullptr ? "" : internal::ProfileText(internal::ProfileOf(*state), {});
}
std::string RunResult::ProfileTrace() const {
  return state == nullptr || state->log == nullptr ? "" : TraceJson(internal::ProfileTrace(internal::ProfileOf(*state)));
}

Result<RunResult> Executable::Execute(Buffers arguments, const ExecuteOptions& options) const {
  return internal::Guarded([&]() -> Result<RunResult> { return internal::ExecuteNow(state_, std::move(arguments), options); });
}

Result<PendingRun> Executable::ExecuteAsync(Buffers arguments, const ExecuteOptions& options,
                                            std::function<void(Result<RunResult>)> done) const {
  return internal::Guarded([&]() -> Result<PendingRun> {
    auto pending = std::make_shared<internal::PendingState>();
    auto body = [pending, executable = *this, arguments = std::move(arguments), options,
                 done = std::move(done)]() mutable {
      // A stop that the caller requests through the options also stops this run.
      const std::stop_callback forward(options.stop, [pending] { pending->stop.request_stop(); });
      ExecuteOptions own = options;
      own.stop = pending->stop.get_token();
      Result<RunResult> result = executable.Execute(std::move(arguments), own);
      if (done) {
        done(std::move(result));
      } else {
        pending->result = std::move(result);
      }
      std::lock_guard lock(pending->mutex);
      pending->is_done = true;
      pending->changed.notify_all();
    };
    try {
      pending->thread = std::thread(std::move(body));
    } catch (const std::system_error&) {
      return internal::MakeError(internal::EnvironmentError("the system cannot create a thread"), "");
    }
    return PendingRun(std::move(pending));
  });
}

PendingRun::~PendingRun() {
  if (state_ == nullptr) return;
  // If the completion callback destroys this object, its thread cannot be waited for. It keeps what it needs.
  state_->thread.get_id() == std::this_thread::get_id() ? state_->thread.detach() : state_->thread.join();
}

PendingRun& PendingRun::operator=(PendingRun&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

bool PendingRun::WaitFor(double seconds) const {
  if (state_ == nullptr) return true;
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return state_->is_done; });
}

void PendingRun::Cancel() const {
  if (state_ != nullptr) state_->stop.request_stop();
}

Result<RunResult> PendingRun::Take() {
  if (state_ == nullptr) return internal::ArgumentError("there is no pending run");
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->is_done; });
  if (!state_->result) return internal::ArgumentError("the result of this run was already taken or passed to its callback");
  Result<RunResult> result = std::move(*state_->result);
  state_->result.reset();
  return result;
}

}  // namespace shoal::inline v0_1
