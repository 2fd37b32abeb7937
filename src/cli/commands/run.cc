#include "cli/commands/run.h"

#include <algorithm>
#include <memory>
#include <new>

#include "analyze/facts/instruction_count.h"
#include "cli/commands/device_positions.h"
#include "cli/commands/generate.h"
#include "cli/commands/outfeeds.h"
#include "cli/commands/progress.h"
#include "core/base/files.h"
#include "core/base/strings.h"
#include "core/base/threads.h"
#include "core/base/environment_error.h"
#include "core/verify/verify.h"
#include "execute/data/inputs.h"
#include "execute/data/job_outputs.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/data/replicas.h"
#include "execute/interp/memory_preflight.h"
#include "execute/interp/step_log.h"
#include "execute/interp/ticker.h"
#include "execute/runtime/job_profile.h"
#include "execute/runtime/observers.h"
#include "execute/runtime/run_warnings.h"
#include "kernels/linalg/machine_peak.h"
#include "present/reports/compare_report.h"
#include "present/reports/run_profile.h"
#include "present/reports/run_report.h"
#include "present/reports/time_report.h"

namespace shoal::internal {
namespace {

class RunSession {
 public:
  explicit RunSession(const RunFlags& flags) : flags_(flags) {}

  int Run() {
    if (Status joined = job_.Join(flags_.job); !joined.ok()) return Failed(joined.diag());
    if (flags_.engine.engine == "jit") prefetch_ = PrefetchCodeGenerator();  // in parallel with reading the input
    input_ = ReadInput(flags_.file, {.strict = true, .collects_deviations = true});
    if (input_.module != nullptr) Verify(*input_.module, input_.diags);
    const bool refused = input_.diags.errors() > 0;
    if (Status agree = job_.CheckInputsAgree(input_, refused ? Status(input_.diags.found()[0]) : Status()); !agree.ok())
      return Failed(agree.diag());
    if (refused) return FailOnInput(input_, flags_.common);
    report_.file = input_.text()->name();
    report_.devices = InferDevices(*input_.module, flags_.num_replicas, flags_.num_partitions);
    if (Status fit = flags_.limits.Check(*input_.module, report_.devices); !fit.ok()) return Failed(fit.diag());
    try {
      return RunVerified();
    } catch (const std::bad_alloc&) {
      if (job_.job() != nullptr) job_.Abort("not enough memory on this machine");
      return Failed(EnvironmentError("not enough memory on this machine for the arguments"));
    }
  }

 private:
  int RunVerified() {
    if (Status fits = job_.AgreeOnStatus(CheckConstantMemory(*input_.module)); !fits.ok()) return Failed(fits.diag());
    const std::optional<Numerics> numerics = ParseNumerics(flags_.numerics);
    report_.numerics = numerics ? NumericsChoice{*numerics, "given"} : InferNumerics(*input_.module);
    if (int status = WarnAboutElided(FindElidedLiterals(*input_.module)); status != kOk) return status;
    Arguments arguments;
    if (Status ready = job_.AgreeOnStatus(Prepare(arguments)); !ready.ok()) return Failed(ready.diag());
    if (flags_.inputs.empty()) PrintMessage(report_.inputs);  // the inputs were not chosen by the user
    if (flags_.explain) return Explain();

    RunSettings settings;
    settings.pool = executable_->program() != nullptr ? &*pool_ : nullptr;
    settings.ticker = &ticker_;
    settings.job = job_.job();
    settings.placement = job_.placement();
    settings.stub_custom_calls = flags_.stub_custom_calls;
    settings.random_seed = flags_.random_seed;
    settings.observer = observer_.get();
    if (!flags_.profile.empty()) step_log_ = std::make_unique<StepLog>(report_.devices.grid.count());
    flags_.limits.ApplyTo(settings);
    if (flags_.print_literals && !flags_.common.json)
      settings.outfeed = [this](const Device& device, const Instruction&, const Value& value) {
        outfeeds_.Add(device.id(), value);
        return Status();
      };
    Result<RunOutcome> outcome = Execute(std::move(arguments), settings);
    if (dump_ != nullptr && job_.job() != nullptr) dump_->Gather(*job_.job());
    if (dump_ != nullptr) PrintMessage(StrCat("dumped ", dump_->Summary()));
    if (!outcome.ok()) return Failed(outcome.diag());
    outcome_ = std::move(*outcome);
    WarnAboutRun(outcome_.stats, FindMixedFloats(*input_.module));
    PrintMessage(FallbackMessage(outcome_.stats, job_.LocalDevices(report_.devices.grid.count())));
    if (gathers()) GatherResults(*job_.job(), *job_.placement(), *input_.module, outcome_.results);
    if (Status written = job_.AgreeOnStatus(Write()); !written.ok()) return Failed(written.diag());
    report_.stats = outcome_.stats;
    report_.processes = job_.Describe();
    report_.outputs = GroupEqualOutputs(outcome_.results);
    if (job_.job() != nullptr && !gathers()) report_.outputs = GatherOutputs(*job_.job(), std::move(report_.outputs));
    if (job_.job() != nullptr && flags_.print_literals && !flags_.common.json) outfeeds_.Gather(*job_.job());
    const Module& ran = executable_->running_module();
    if (job_.job() != nullptr && step_log_ != nullptr)
      GatherStepLog(*job_.job(), *job_.placement(), ran, *step_log_);
    return job_.AgreeOnExit(job_.is_root() ? Finish(ran) : kOk);
  }

  // Writes the profile and prints the results. Everything that can fail comes before the only JSON document.
  int Finish(const Module& ran) {
    const bool to_file = step_log_ != nullptr && flags_.profile != "-";
    if (to_file)
      if (Status written = WriteProfile(ran); !written.ok()) return Failed(written.diag());
    if (flags_.check_snapshot) {
      Result<std::vector<OutputComparison>> outputs = CompareWithLiteral(*input_.result, report_.outputs);
      if (!outputs.ok()) return Failed(outputs.diag());
      report_.snapshot = std::move(*outputs);
    }
    int status = Print();
    if (status == kOk && step_log_ != nullptr && !to_file) status = PrintProfile(ran);
    if (status != kOk || !report_.snapshot) return status;
    const CompareReport report{"the snapshot's result", StrCat(report_.file, " on ", report_.devices.from), {}, {},
                               *report_.snapshot};
    if (!flags_.common.json) status = WriteText(CompareText(report, Internal(OutputStyle())));
    return status == kOk && !Agree(report.outputs) ? kInputError : status;
  }

  // Does everything that must happen before the devices run.
  Status Prepare(Arguments& arguments) {
    if (flags_.check_snapshot && input_.result == nullptr)
      return EnvironmentError("--check_snapshot needs an HloSnapshot with a result; this file has none");
    SHOAL_TRY(job_.Place(report_.devices.grid.count()));
    SHOAL_TRY(Compile());
    SHOAL_TRY(CheckResources());
    SHOAL_ASSIGN(generated, MakeArguments());
    arguments = std::move(generated);
    if (!flags_.inputs.empty() && job_.placement() == nullptr) WarnAboutReplicas(arguments);
    return MakeObservers();
  }

  // True if the first process needs all results.
  bool gathers() const {
    const bool needs = flags_.job.gather || flags_.print_literals || flags_.check_snapshot;
    return needs && job_.placement() != nullptr;
  }

  Status Write() {
    if (flags_.outputs.empty()) return {};
    if (!flags_.job.gather) return WriteOutputs(outcome_.results, flags_.outputs, job_.placement());
    return job_.is_root() ? WriteOutputs(outcome_.results, flags_.outputs) : Status();
  }

  // --dump and --check_nans observe every instruction of the original module, so the engine computes each separately.
  Status Compile() {
    const EngineFlags engine = job_.WithThreads(flags_.engine);
    CompileOptions options;
    options.grid = report_.devices.grid;
    options.numerics = report_.numerics.numerics;
    options.per_instruction = !flags_.dump.empty() || flags_.check_nans;
    if (engine.engine == "jit") options.pool = &pool_.emplace(engine.threads);
    if (engine.engine == "jit" && engine.threads > 0 && pool_->lacks_threads()) return ThreadCreationError();
    SHOAL_ASSIGN(executable, CompileModule(input_.module, report_.file, engine, flags_.common.json, options));
    executable_ = std::move(executable);
    if (executable_->program() != nullptr) report_.compile_seconds = executable_->compile_seconds();
    return {};
  }

  RunProfile ProfileOf(const Module& module) const {
    return {report_.file, &module, report_.devices.grid, step_log_.get(), {}};
  }

  Status WriteProfile(const Module& module) const {
    const shoal::Status written = WriteOutput(flags_.profile, TraceJson(ProfileTrace(ProfileOf(module))));
    return written.ok() ? Status() : EnvironmentError(written.error().message());
  }

  // Prints the profile below the summary.
  int PrintProfile(const Module& module) {
    RunProfile profile = ProfileOf(module);
    if (!pool_) pool_.emplace(flags_.engine.threads);
    const MachinePeak peak = MeasurePeak(*pool_);
    profile.peak_flops = peak.flops;
    profile.peak_bytes = peak.bytes;
    if (!flags_.common.json) return WriteText(ProfileText(profile, Internal(OutputStyle())));
    PrintToStderr(ProfileText(profile, Internal(OutputStyle())));
    return kOk;
  }

  int Explain() {
    if (executable_->program() == nullptr)
      return Failed(EnvironmentError("--explain prints the program of --engine=jit, but this run uses the interpreter"));
    const std::string program = ToString(*executable_->program());
    return WriteText(flags_.common.json ? ExplainedProgramJson(report_.file, program) : program);
  }

  Result<RunOutcome> Execute(Arguments arguments, RunSettings settings) {
    ProgressLine line(StrCat("running ", report_.file));
    std::optional<double> expected;  // computed at the first progress update
    settings.watch = [&](auto devices) {
      if (!expected) expected = EstimateInstructionCount(executable_->running_module()) * static_cast<double>(std::ssize(devices));
      line.Show(InstructionsDone(devices), *expected, FormatDevicePositions(devices));
    };
    for (int64_t repeat = 1; repeat < flags_.num_repeats; ++repeat) {
      Result<RunOutcome> outcome = executable_->Run(arguments, settings);
      if (!outcome.ok()) return outcome;
      report_.run_seconds.push_back(outcome->stats.seconds);
    }
    if (step_log_ != nullptr) settings.observer = step_log_.get();  // logs only the last run
    Result<RunOutcome> outcome = executable_->Run(std::move(arguments), settings);
    if (outcome.ok()) report_.run_seconds.push_back(outcome->stats.seconds);
    return outcome;
  }

  int WarnAboutElided(const ElidedLiterals& elided) {
    if (elided.count == 0) return kOk;
    if (!flags_.fill_elided) return Failed(ElidedLiteralsError(elided));
    input_.diags.Add(ElidedWarning(elided));
    if (!flags_.common.json) PrintDiags(input_, flags_.common);
    return kOk;
  }

  void WarnAboutRun(const RunStats& stats, const MixedFloats& mixed) {
    Diags earlier = std::exchange(input_.diags, RunWarnings(stats, mixed));
    if (!flags_.common.json) PrintDiags(input_, flags_.common);
    for (const Diag& diag : input_.diags.found()) earlier.Add(diag);
    input_.diags = std::move(earlier);
  }

  Result<Arguments> MakeArguments() {
    const Module& module = *input_.module;
    const DeviceGrid& grid = report_.devices.grid;
    if (!flags_.inputs.empty()) {
      report_.inputs = StrCat("inputs from ", flags_.inputs);
      return ReadArguments(module, grid, flags_.inputs, job_.placement());
    }
    if (!input_.arguments.empty()) {
      report_.inputs = "inputs from the snapshot";
      return SnapshotArguments(module, grid, input_.arguments, job_.placement());
    }
    if (module.entry->parameters.empty()) return Arguments(static_cast<size_t>(grid.count()));
    std::string mode = flags_.argument_mode;
    const bool shares = flags_.shardings_from.empty() && NeedsSharedInputs(module, mode);
    if (shares) mode = "use_shared_random_inputs";
    report_.inputs = StrCat("no inputs given: generated with ", mode);
    if (mode.find("random") != std::string::npos) StrAppend(&report_.inputs, ", random_seed ", flags_.random_seed);
    if (shares)
      StrAppend(&report_.inputs, "; the module has no shardings, so every device gets the same inputs"
                                 " (--shardings-from=BEFORE.hlo splits those of the module before partitioning)");
    for (const std::string& note : GeneratedInputNotes(module, mode)) StrAppend(&report_.inputs, "; ", note);
    SHOAL_ASSIGN(fixed, ParseFixedInputs(module, flags_.fixed_inputs));
    if (!flags_.shardings_from.empty()) return SplitInputs(mode);
    return Generate(module, grid, mode, flags_.random_seed, fixed, job_.placement());
  }

  // True for a partitioned module from a compiler that dropped the shardings of the parameters. Replicated parameters
  // must then agree, and which ones are replicated is unknown.
  static bool NeedsSharedInputs(const Module& module, const std::string& mode) {
    if (mode != "use_random_inputs" || !module.is_scheduled || module.num_partitions < 2) return false;
    const std::vector<Leaf> leaves = ParameterLeaves(module);
    return std::none_of(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.sharding != nullptr; });
  }

  // Generates the inputs of the module before partitioning and splits them.
  Result<Arguments> SplitInputs(const std::string& mode) {
    before_ = ReadInput(flags_.shardings_from, {/*strict=*/true});
    if (before_.module != nullptr) Verify(*before_.module, before_.diags);
    for (const Diag& diag : before_.diags.found())
      if (diag.severity == Severity::kError)
        return EnvironmentError(StrCat("--shardings-from=", flags_.shardings_from, ": ", diag.message, "; shoal check shows the location"));
    const ModuleOnDevices parts{*input_.module, report_.devices.grid};
    SHOAL_ASSIGN(partitioning, PartitioningOf(*before_.module, parts));
    StrAppend(&report_.inputs, ", split by the shardings of ", flags_.shardings_from);
    SHOAL_ASSIGN(fixed, ParseFixedInputs(*before_.module, flags_.fixed_inputs));
    const Arguments whole = Generate(*before_.module, DeviceGrid{}, mode, flags_.random_seed, fixed, nullptr);
    return partitioning.is_split ? SplitArguments(whole[0], parts, partitioning, job_.placement())
                                 : RegroupArguments(whole, parts);
  }

  // Warns about parameters that the shardings replicate but the inputs do not.
  void WarnAboutReplicas(const Arguments& arguments) {
    const std::vector<std::string> differing = DifferingReplicas(*input_.module, report_.devices.grid, arguments);
    if (differing.empty() || flags_.common.json) return;
    PrintToStderr(StrCat("warning: replicas that must be equal differ between devices: ", StrJoin(differing, ", "), "\n"));
  }

  // Checks memory and output directories before anything is generated.
  Status CheckResources() const {
    const Module& module = executable_->running_module();
    const DeviceGrid& grid = report_.devices.grid;
    const bool has_inputs = !flags_.inputs.empty() || !input_.arguments.empty();
    const int64_t local_devices = job_.LocalDevices(grid.count());
    const ArgumentMode mode = *ParseArgumentMode(flags_.argument_mode);
    SHOAL_TRY(CheckRunMemory(module, grid,
                             has_inputs ? ArgumentBytes(module) : GeneratedBytes(module, grid, mode, job_.placement()),
                             local_devices));
    const int64_t devices_written = flags_.job.gather ? (job_.is_root() ? grid.count() : 0) : local_devices;
    if (!flags_.outputs.empty()) SHOAL_TRY(CheckWritable(flags_.outputs, ResultBytes(module) * devices_written));
    if (!flags_.dump.empty()) SHOAL_TRY(CheckWritable(flags_.dump_dir, 0));
    return {};
  }

  Status MakeObservers() {
    const Module& module = executable_->running_module();
    if (!flags_.profile.empty() && (!flags_.dump.empty() || flags_.check_nans))
      return EnvironmentError("--profile cannot be combined with --dump or --check_nans");
    const int64_t devices = report_.devices.grid.count();
    std::vector<Observer*> observers;
    if (!flags_.dump.empty()) {
      SHOAL_ASSIGN(dump, Dump::Create(module, flags_.dump, flags_.dump_dir, devices));
      dump_ = std::move(dump);
      observers.push_back(dump_.get());
    }
    if (flags_.check_nans) {
      nan_check_ = NewNanCheck(module, devices);
      observers.push_back(nan_check_.get());
    }
    if (!observers.empty()) observer_ = NewObservers(observers);
    return {};
  }

  int Print() {
    report_.diags = input_.diags;
    report_.text = input_.text();
    const std::string text = flags_.common.json      ? ReportJson(report_)
                       : flags_.print_literals ? ReportLiterals(report_)
                                               : ReportText(report_, Internal(OutputStyle()));
    return WriteText(outfeeds_.Text() + text);
  }

  void PrintMessage(const std::string& sentence) const {
    if (!sentence.empty() && !flags_.common.json) PrintToStderr(sentence + "\n");
  }

  int Failed(const Diag& diag) { return FailOnInput(input_, diag, flags_.common); }

  const RunFlags& flags_;
  JobContext job_;  // declared first, so that it is destroyed last
  Input input_, before_;
  RunOutcome outcome_;
  RunReport report_;
  Outfeeds outfeeds_;
  std::unique_ptr<Dump> dump_;
  std::unique_ptr<Observer> nan_check_, observer_;
  std::jthread prefetch_;
  std::shared_ptr<const Executable> executable_;
  std::optional<ThreadPool> pool_;
  Ticker ticker_;
  std::unique_ptr<StepLog> step_log_;
};

}  // namespace

int RunCommand(const RunFlags& flags) { return RunSession(flags).Run(); }

}  // namespace shoal::internal
