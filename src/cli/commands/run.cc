#include "cli/commands/run.h"

#include <map>
#include <mutex>

#include "cli/commands/base.h"
#include "cli/commands/interrupt.h"
#include "core/base/files.h"
#include "present/reports/run_report.h"

namespace shoal::cli {
namespace {

// The values that the devices send to outfeed, as text by device.
class Outfeeds {
 public:
  // Called by the threads of all devices.
  void Add(const ObservedValue& value) {
    const std::lock_guard lock(mutex_);
    for (const Buffer& array : value.arrays)
      if (!array.empty()) StrAppend(&texts_[value.device], "outfeed, device ", value.device, ": ", array.ToLiteral(), "\n");
  }
  // The texts of all processes at the first one, in device order.
  std::string Gather(const Job& job) const { return job.GatherTexts(texts_); }

 private:
  std::mutex mutex_;
  std::map<int64_t, std::string> texts_;
};

class RunSession {
 public:
  explicit RunSession(const RunFlags& flags) : flags_(flags), common_(flags.common) {}

  int Run() {
    if (const Status joined = job_.Join(flags_.job); !joined.ok()) return Failed(joined.error());
    std::shared_ptr<void> prefetch;  // in parallel with reading the input
    if (flags_.engine.engine == "jit") prefetch = PrefetchCodeGenerator();
    const Result<Module> module = ReadRunnable(flags_.file);
    if (const Status agree = job_.CheckInputsAgree(flags_.file, module); !agree.ok()) return Failed(agree.error());
    if (!module.ok()) return Failed(module.error());
    module_ = *module;
    Result<Inputs> inputs = job_.Agree(Prepare(), module_);
    if (!inputs.ok()) return Failed(inputs.error());
    if (flags_.inputs.path.empty()) PrintMessage(inputs->description);  // the inputs were not chosen by the user
    if (flags_.explain) return Explain();
    const Result<RunResult> result = Execute(std::move(*inputs));
    if (!result.ok()) return Failed(result.error());
    if (!common_.json) PrintToStderr(result->WarningText({.text = ErrorStyle(), .verbose = common_.verbose}));
    const Result<Nothing> written = job_.Agree(Write(*result), module_);
    if (!written.ok()) return Failed(written.error());
    const std::string outfeeds = PrintsLiterals() ? outfeeds_.Gather(job_.job()) : "";
    return job_.AgreeOnExit(job_.is_root() ? Finish(*result, outfeeds) : kOk);
  }

 private:
  bool PrintsLiterals() const { return flags_.print_literals && !common_.json; }

  // Does everything that must happen before the devices run.
  Result<Inputs> Prepare() {
    if (!flags_.profile.empty() && (!flags_.dump.empty() || flags_.check_nans))
      return Error::OfArgument("--profile cannot be combined with --dump or --check_nans");
    Result<Executable> executable = Compile();
    if (!executable.ok()) return executable.error();
    executable_ = std::move(*executable);
    if (!common_.json) PrintToStderr(executable_->WarningText({.text = ErrorStyle(), .verbose = common_.verbose}));
    if (const Status writable = CheckFolders(); !writable.ok()) return writable.error();
    return MakeInputs();
  }

  // --dump and --check_nans observe every instruction of the original module, so the engine computes each separately.
  Result<Executable> Compile() const {
    ProgressLine line(StrCat("compiling ", module_.path()));
    SetActivity(StrCat("compiling ", module_.path()));
    CompileOptions options = CompileOptionsOf(flags_.engine, job_.job(), line);
    options.num_replicas = flags_.num_replicas;
    options.num_partitions = flags_.num_partitions;
    options.numerics = NumericsOf(flags_.numerics);
    options.observable = !flags_.dump.empty() || flags_.check_nans;
    options.fill_elided = flags_.fill_elided;
    Result<Executable> executable = shoal::Compile(module_, options);
    line.Clear();
    if (executable.ok())
      for (const std::string& warning : executable->warnings()) PrintMessage(StrCat("warning: ", warning));
    return executable;
  }

  // Checks the folders for outputs before anything is generated.
  Status CheckFolders() const {
    double bytes = 0;  // of the results of a device
    for (const Shape& shape : executable_->result_shapes()) bytes += BytesOf(shape);
    const int64_t devices = !flags_.job.gather ? executable_->num_local_devices() : job_.is_root() ? executable_->num_devices() : 0;
    internal::Status writable;
    if (!flags_.outputs.empty())
      writable = internal::CheckWritable(flags_.outputs, static_cast<int64_t>(std::min(bytes * static_cast<double>(devices), 0x1p62)));
    if (writable.ok() && !flags_.dump.empty()) writable = internal::CheckWritable(flags_.dump_dir, 0);
    return writable.ok() ? Status(Nothing()) : Status(Error::OfEnvironment(writable.diag().message));
  }

  Result<Inputs> MakeInputs() const {
    ProgressLine line("generating inputs");
    Result<InputOptions> options = InputOptionsOf(flags_.inputs, flags_.limits, line);
    if (!options.ok()) return options.error();
    if (const std::string& file = flags_.inputs.shardings_from; !file.empty() && options->path.empty()) {
      Result<Module> before = ReadRunnable(file);
      if (!before.ok())
        return Error::OfEnvironment(StrCat("--shardings-from=", file, ": ", before.error().message(), "; shoal check shows the location"));
      options->shardings_from = std::move(*before);
    }
    Result<Inputs> inputs = executable_->MakeInputs(*options);
    line.Clear();
    if (inputs.ok() && !inputs->differing_replicas.empty())
      PrintMessage(StrCat("warning: replicas that must be equal differ between devices: ", StrJoin(inputs->differing_replicas, ", ")));
    return inputs;
  }

  Result<RunResult> Execute(Inputs inputs) {
    ProgressLine line(StrCat("running ", module_.path()));
    ExecuteOptions options = ExecuteOptionsOf(flags_.limits, line);
    options.random_seed = flags_.inputs.random_seed;
    options.stub_custom_calls = flags_.stub_custom_calls;
    options.check_nans = flags_.check_nans;
    options.dump = flags_.dump;
    options.dump_folder = flags_.dump_dir;
    options.check_snapshot = flags_.check_snapshot;
    options.gather = flags_.job.gather || flags_.print_literals;
    options.note = [&](const std::string& sentence) {
      line.Clear();
      PrintMessage(sentence);
    };
    if (PrintsLiterals()) options.on_outfeed = [this](const ObservedValue& value) { outfeeds_.Add(value); };
    std::vector<double> seconds;
    for (int64_t repeat = 1; repeat < flags_.num_repeats; ++repeat) {
      const Result<RunResult> result = executable_->Execute(inputs.arguments, options);
      if (!result.ok()) return result;
      seconds.push_back(result->seconds);
    }
    options.profile = !flags_.profile.empty();  // only of the last run
    Result<RunResult> result = executable_->Execute(std::move(inputs.arguments), options);
    if (!result.ok()) return result;
    seconds.push_back(result->seconds);
    result->run_seconds = std::move(seconds);
    result->inputs = std::move(inputs.description);
    return result;
  }

  Status Write(const RunResult& result) const {
    return flags_.outputs.empty() || (flags_.job.gather && !job_.is_root()) ? Status(Nothing()) : result.WriteOutputs(flags_.outputs);
  }

  // Writes the profile and prints the results. Everything that can fail comes before the only JSON document.
  int Finish(const RunResult& result, const std::string& outfeeds) const {
    const bool to_file = !flags_.profile.empty() && flags_.profile != "-";
    if (to_file)
      if (const Status written = WriteOutput(flags_.profile, result.ProfileTrace()); !written.ok()) return Failed(written.error());
    int status = WriteText(outfeeds + (common_.json            ? result.ToJson()
                                       : flags_.print_literals ? result.ToLiterals()
                                                               : result.ToText(OutputStyle())));
    if (status == kOk && !flags_.profile.empty() && !to_file) status = PrintProfile(result);
    if (status != kOk || !result.equals_snapshot) return status;
    if (!common_.json) status = WriteText(result.SnapshotText(OutputStyle()));
    return status == kOk && !*result.equals_snapshot ? kInputError : status;
  }

  // Prints the profile below the summary.
  int PrintProfile(const RunResult& result) const {
    const std::string text = result.ProfileText(OutputStyle(), /*peak=*/true);
    if (!common_.json) return WriteText(text);
    PrintToStderr(text);
    return kOk;
  }

  int Explain() const {
    if (executable_->engine() == Engine::kInterpreter)
      return FailOnUsage("--explain prints the program of --engine=jit, but this run uses the interpreter", common_);
    const std::string program = executable_->Explain();
    return WriteText(common_.json ? internal::ExplainedProgramJson(flags_.file, program) : program);
  }

  void PrintMessage(const std::string& sentence) const {
    if (!sentence.empty() && !common_.json) PrintToStderr(sentence + "\n");
  }

  int Failed(const Error& error) const {
    job_.AbortIfOutOfMemory(error);
    return Fail(error, common_);
  }

  const RunFlags& flags_;
  const CommonFlags& common_;
  JobContext job_;  // declared first, so that it is destroyed last
  Module module_;
  std::optional<Executable> executable_;
  Outfeeds outfeeds_;
};

}  // namespace

int RunCommand(const RunFlags& flags) { return RunSession(flags).Run(); }

}  // namespace shoal::cli
