#include <utility>

#include "analyze/facts/instruction_count.h"
#include "api/cpp/arguments.h"
#include "core/base/environment_error.h"
#include "core/base/strings.h"
#include "execute/data/job_outputs.h"
#include "execute/interp/device_positions.h"
#include "execute/interp/run.h"
#include "execute/runtime/job_profile.h"
#include "execute/runtime/observers.h"
#include "execute/runtime/run_warnings.h"
#include "present/reports/compare_report.h"

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
  std::unique_ptr<Dump> dump;

  Status Create(const ExecutableHandle& executable, const RunFlags& options) {
    const Module& module = executable->executable->running_module();
    const int64_t devices = executable->devices.grid.count();
    std::vector<Observer*> each;
    if (!options.dump.empty()) {
      SHOAL_ASSIGN(made, Dump::Create(module, options.dump, options.dump_folder, devices));
      dump = std::move(made);
      each.push_back(dump.get());
    }
    if (options.check_nans) {
      nan_check = NewNanCheck(module, devices);
      each.push_back(nan_check.get());
    }
    if (options.on_value) {
      callback = std::make_unique<CallbackObserver>(executable, options.on_value);
      each.push_back(callback.get());
    }
    if (!each.empty()) all = NewObservers(each);
    return {};
  }
};

// Calls options.progress while the devices run. Most runs end before the first call.
Watch WatchFor(const RunFlags& options, const Executable& executable) {
  if (!options.progress) return {};
  const auto start = std::chrono::steady_clock::now();
  return [&options, &executable, expected = -1.0, start](std::span<const std::unique_ptr<Device>> running) mutable {
    if (expected < 0)
      expected = EstimateInstructionCount(executable.running_module()) * static_cast<double>(std::ssize(running));
    RunProgress progress;
    progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.expected_instructions = expected;
    progress.instructions = InstructionsDone(running);
    progress.positions = FormatDevicePositions(running);
    options.progress(progress);
  };
}

RunSettings SettingsOf(const RunFlags& options, const ExecutableState& state, Observer* observer) {
  RunSettings settings;
  settings.pool = state.is_compiled() ? state.pool.get() : nullptr;
  settings.cancel = options.stop;
  settings.watch = WatchFor(options, *state.executable);
  settings.ticker = &state.ticker;
  settings.job = JobOf(state.job);
  settings.placement = state.placement();
  settings.donate_arguments = options.donate;
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

// Collects what other processes have. Collective in a job.
void GatherRun(const RunFlags& options, RunState& state, RunOutcome& outcome) {
  const ExecutableState& executable = *state.executable;
  if (executable.job.empty()) return;
  Job& job = executable.job.state()->job;
  const Placement& placement = *executable.placement();
  const bool all = options.gather || options.check_snapshot;
  if (all) GatherResults(job, placement, executable.module->module(), outcome.results);
  if (!all) state.report.outputs = GatherOutputs(job, GroupEqualOutputs(outcome.results));
  if (state.log != nullptr) GatherStepLog(job, placement, executable.executable->running_module(), *state.log);
  state.has_all_outputs = all && executable.job.is_root();
}

// Buffers of the devices whose results are in this process.
Buffers LocalBuffers(const RunState& state, const std::vector<Value>& results) {
  Buffers all(results.size());
  for (size_t d = 0; d < results.size(); ++d)
    if (state.has_all_outputs || state.executable->IsLocal(d)) all[d] = ArraysOf(results[d]);
  return all;
}

shoal::Result<RunResult> MakeRun(const RunFlags& options, std::shared_ptr<RunState> state, RunOutcome outcome) {
  const ExecutableHandle& executable = state->executable;
  GatherRun(options, *state, outcome);
  RunResult run;
  run.seconds = outcome.stats.seconds;
  run.instructions = outcome.stats.instructions;
  run.iterations = outcome.stats.iterations;
  run.peak_bytes = outcome.stats.peak_bytes;
  run.traffic = PublicTraffic(outcome.stats);
  if (const std::string note = FallbackMessage(outcome.stats, executable->LocalDevices()); options.note && !note.empty()) options.note(note);
  Diags& diags = state->report.diags;
  diags = executable->diags;
  state->warnings = RunWarnings(outcome.stats, executable->mixed);
  for (const Diag& diag : state->warnings.found()) diags.Add(diag);
  run.warnings = LocatedDiags{diags, executable->module->file.path, executable->module->text()}.ToPublic();
  run.outputs = LocalBuffers(*state, outcome.results);
  state->report.stats = std::move(outcome.stats);
  if (options.check_snapshot && executable->job.is_root()) {
    const Literal* recorded = executable->module->file.result;
    Result<std::vector<OutputComparison>> compared = CompareWithLiteral(*recorded, GroupEqualOutputs(outcome.results));
    if (!compared.ok()) return executable->module->MakeError(compared.diag());
    run.equals_snapshot = Agree(*compared);
    state->report.snapshot = std::move(*compared);
  }
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

// Fails if the options contradict each other or the executable.
std::string CheckOptions(const ExecutableState& executable, const RunFlags& options) {
  const bool observes = options.check_nans || options.on_value || !options.dump.empty();
  if (observes && !executable.is_observable) return "check_nans, dump and on_value need CompileOptions::observable";
  if (observes && options.profile) return "profile cannot be combined with check_nans, dump and on_value";
  if (options.check_snapshot && executable.module->file.result == nullptr) return "the module is not a snapshot with a result";
  return {};
}

shoal::Result<RunResult> ExecuteNow(const ExecutableHandle& executable, Buffers buffers, const RunFlags& options) {
  shoal::Result<Arguments> arguments = ArgumentsOf(std::move(buffers), *executable);
  if (!arguments.ok()) return arguments.error();
  if (const std::string wrong = CheckOptions(*executable, options); !wrong.empty()) return ArgumentError(wrong);
  auto state = std::make_shared<RunState>();
  state->executable = executable;
  RunObservers observers;
  Status observable = observers.Create(executable, options);
  if (Job* job = JobOf(executable->job)) observable = job->AgreeOnStatus(observable);
  if (!observable.ok()) return executable->module->MakeError(observable.diag());
  if (options.profile) state->log = std::make_unique<StepLog>(executable->devices.grid.count());
  shoal::Result<RunOutcome> outcome = RunArguments(
      executable, std::move(*arguments), options, state->log != nullptr ? state->log.get() : observers.all.get());
  if (observers.dump != nullptr) {
    if (Job* job = JobOf(executable->job)) observers.dump->Gather(*job);
    if (options.note) options.note(StrCat("dumped ", observers.dump->Summary()));
  }
  if (!outcome.ok()) return outcome.error();
  return MakeRun(options, std::move(state), std::move(*outcome));
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

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
