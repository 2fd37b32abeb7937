// shoal run: executes a module on all its devices.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "analysis/run_steps.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/world.h"
#include "cli/engine_flags.h"
#include "cli/generate.h"
#include "cli/input.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/run_limits.h"
#include "cli/verbs.h"
#include "data/inputs.h"
#include "data/job_outputs.h"
#include "runtime/job_profile.h"
#include "runtime/observers.h"
#include "interp/step_log.h"
#include "memory/run_need.h"
#include "report/compare_report.h"
#include "report/run_profile.h"
#include "report/run_report.h"
#include "report/time_report.h"
#include "verify/verify.h"

namespace shoal {
namespace {

struct RunFlags {
  CommonFlags common;
  JobFlags job;
  std::string file, inputs, outputs, argument_mode = "use_random_inputs", dump, dump_dir = "dump";
  std::optional<int64_t> num_replicas, num_partitions;
  uint64_t random_seed = 0;
  EngineFlags engine;
  std::string numerics;
  std::string profile;  // "-": the table alone; else a file for the trace
  int64_t num_repeats = 1;
  bool explain = false;
  RunLimits limits;
  bool print_literals = false, check_nans = false, stub_custom_calls = false, fill_elided = true,
       check_snapshot = false;
};

class RunVerb {
 public:
  explicit RunVerb(const RunFlags& flags) : flags_(flags) {}

  int Run() {
    if (Status joined = job_.Join(flags_.job); !joined.ok()) return Failed(joined.diag());
    if (flags_.engine.engine == "jit") prefetch_ = PrefetchCodeGenerator();  // while everything is read
    input_ = ReadInput(flags_.file, {/*strict=*/true});
    if (input_.module == nullptr && input_.source != nullptr) FindAllDefects();
    if (input_.module != nullptr) Verify(*input_.module, input_.diags);
    const bool refused = input_.diags.errors() > 0;
    if (Status same = job_.Compare(input_, refused ? Status(input_.diags.found()[0]) : Status()); !same.ok())
      return Failed(same.diag());
    if (refused) return Refuse(input_, flags_.common);
    report_.file = input_.text()->name();
    report_.devices = InferDevices(*input_.module, flags_.num_replicas, flags_.num_partitions);
    if (Status fit = flags_.limits.Check(*input_.module, report_.devices); !fit.ok()) return Failed(fit.diag());
    try {
      return RunVerified();
    } catch (const std::bad_alloc&) {
      if (job_.job() != nullptr) job_.Leave("not enough memory on this machine");
      return Failed(WorldFailed("not enough memory on this machine for the arguments"));
    }
  }

 private:
  // A strict reader gives up soon. A forgiving one goes on, and each liberty it had to take is a defect too.
  void FindAllDefects() {
    Diags liberties;
    std::unique_ptr<Module> module = ParseModule(input_.source, {}, liberties);
    if (module == nullptr || liberties.found().empty()) return;
    input_.module = std::move(module);
    input_.diags = {};
    for (Diag diag : liberties.found()) {
      diag.severity = Severity::kError;
      input_.diags.Add(std::move(diag));
    }
  }

  int RunVerified() {
    if (Status room = job_.Agree(CheckConstantMemory(*input_.module)); !room.ok()) return Failed(room.diag());
    const Plans plans(*input_.module);
    const std::optional<Numerics> given = NumericsNamed(flags_.numerics);
    report_.numerics = given ? NumericsChoice{*given, "given"} : InferNumerics(*input_.module);
    if (int status = WarnOfElided(plans.elided()); status != kOk) return status;
    Arguments arguments;
    if (Status ready = job_.Agree(Prepare(arguments)); !ready.ok()) return Failed(ready.diag());
    if (flags_.inputs.empty()) Say(report_.inputs);  // what the user did not ask for
    if (flags_.explain) return engine_ != nullptr ? WriteText(ToString(engine_->program())) : NothingToExplain();

    RunSettings settings;
    settings.job = job_.job();
    settings.placement = job_.placement();
    settings.stub_custom_calls = flags_.stub_custom_calls;
    settings.random_seed = flags_.random_seed;
    settings.numerics = report_.numerics.numerics;
    settings.observer = observer_.get();
    if (!flags_.profile.empty()) step_log_ = std::make_unique<StepLog>(report_.devices.grid.count());
    flags_.limits.Set(settings);
    if (flags_.print_literals)
      settings.outfeed = [this](const Device& device, const Instruction&, const Value& value) {
        KeepOutfeed(device, value);
        return Status();
      };
    Result<RunOutcome> outcome = RunWatched(engine_ == nullptr ? plans : engine_->plans(), std::move(arguments), settings);
    if (dump_ != nullptr && job_.job() != nullptr) dump_->Gather(*job_.job());
    if (dump_ != nullptr) Say(StrCat("dumped ", dump_->Written()));
    if (!outcome.ok()) return Failed(outcome.diag());
    outcome_ = std::move(*outcome);
    WarnOfLiberties(outcome_.stats, plans.mixed());
    if (gathers()) GatherResults(*job_.job(), *job_.placement(), *input_.module, outcome_.results);
    if (Status written = job_.Agree(Write()); !written.ok()) return Failed(written.diag());
    report_.stats = outcome_.stats;
    report_.processes = job_.Describe();
    report_.outputs = FoldOutputs(outcome_.results);
    if (job_.job() != nullptr && !gathers()) report_.outputs = GatherOutputs(*job_.job(), std::move(report_.outputs));
    GatherOutfeeds();
    const Module& ran = engine_ == nullptr ? *input_.module : engine_->plans().module();
    if (job_.job() != nullptr && step_log_ != nullptr)
      GatherStepLog(*job_.job(), *job_.placement(), ran, *step_log_);
    int status = Print();
    if (status == kOk && step_log_ != nullptr && job_.leads()) status = Profile(ran);
    return job_.AgreeOnExit(status == kOk && flags_.check_snapshot && job_.leads() ? CheckSnapshot() : status);
  }

  // All that is done before the devices run.
  Status Prepare(Arguments& arguments) {
    SHOAL_TRY(job_.Place(report_.devices.grid.count()));
    SHOAL_TRY(Compile());
    SHOAL_TRY(CheckRoom());
    SHOAL_ASSIGN(made, MakeArguments());
    arguments = std::move(made);
    return MakeObservers();
  }

  // Whether the first process needs all results.
  bool gathers() const {
    const bool needs = flags_.job.gather || flags_.print_literals || flags_.check_snapshot;
    return needs && job_.placement() != nullptr;
  }

  Status Write() {
    if (flags_.outputs.empty()) return {};
    if (!flags_.job.gather) return WriteOutputs(outcome_.results, flags_.outputs, job_.placement());
    return job_.leads() ? WriteOutputs(outcome_.results, flags_.outputs) : Status();
  }

  void GatherOutfeeds() {
    if (job_.job() == nullptr || !flags_.print_literals) return;
    Writer writer;
    for (const auto& [device, text] : outfeeds_) writer.Int(device).String(text);
    for (const std::string& each : job_.job()->Gather(writer.Take()))
      for (Reader reader(each); !reader.rest().empty();) {
        const int64_t device = reader.Int();
        outfeeds_[device] = reader.String();
      }
  }

  // Compares with the result that the snapshot recorded.
  int CheckSnapshot() {
    if (input_.result == nullptr)
      return Failed(WorldFailed("--check_snapshot needs a snapshot with a result, which this file is not"));
    CompareReport report{"the snapshot's result", StrCat(report_.file, " on ", report_.devices.from), {}, {}, {}};
    std::vector<Value> recorded;
    AppendLeaves(FromLiteral(*input_.result), recorded);
    for (const Output& output : report_.outputs) {
      const auto number = static_cast<size_t>(output.number);
      if (number >= recorded.size() || !recorded[number].IsArray() ||
          !std::ranges::equal(recorded[number].array().dims(), output.array.dims()))
        return Failed(
            Fail({}, "compare.C4",
                 StrCat("output ", output.number, " is ", ToString(output.array), ", the snapshot has no such result")));
      OutputComparison comparison{output.number, {}, {}, 0, "", {}};
      KeepWorst(recorded[number].array(), output.array, 0, {}, comparison);
      report.outputs.push_back(std::move(comparison));
    }
    const int status = flags_.common.json ? kOk : WriteText(CompareText(report));
    return status == kOk && !report.Agree() ? kInputAtFault : status;
  }

  // Somebody who watches sees the instructions as they are written, so the interpreter runs those.
  Status Compile() {
    if (!flags_.dump.empty() || flags_.check_nans) return {};
    SHOAL_ASSIGN(engine, CompiledModule(*input_.module, report_.file, flags_.engine, flags_.common.json));
    engine_ = std::move(engine);
    if (engine_ != nullptr) report_.compile_seconds = engine_->compile_seconds();
    return {};
  }

  // The table below the summary, or the trace to its file.
  int Profile(const Module& module) {
    RunProfile profile{report_.file, &module, report_.devices.grid, step_log_.get(), {}};
    if (flags_.profile != "-") {
      Status written = WriteOutput(flags_.profile, TraceJson(ProfileTrace(profile)));
      return written.ok() ? kOk : Failed(written.diag());
    }
    ThreadPool pool(flags_.engine.threads);
    profile.peak = MeasurePeak(pool);
    if (!flags_.common.json) return WriteText(ProfileText(profile));
    shoal::Say(ProfileText(profile));
    return kOk;
  }

  int NothingToExplain() {
    return Failed(WorldFailed("--explain prints what --engine=jit runs; here the interpreter runs"));
  }

  Result<RunOutcome> RunWatched(const Plans& plans, Arguments arguments, RunSettings settings) {
    ProgressLine line(StrCat("running ", report_.file));
    std::optional<double> steps;  // worked out when somebody has waited a while
    const Watch watch = [&](auto devices) {
      if (!steps) steps = RunSteps(plans.module()) * static_cast<double>(std::ssize(devices));
      line.Show(StepsDone(devices), *steps, PlacesOf(devices));
    };
    for (int64_t repeat = 1; repeat < flags_.num_repeats; ++repeat) {
      Result<RunOutcome> outcome = RunModule(plans, report_.devices.grid, arguments, settings, watch);
      if (!outcome.ok()) return outcome;
      report_.run_seconds.push_back(outcome->stats.seconds);
    }
    if (step_log_ != nullptr) settings.observer = step_log_.get();  // of the last run alone
    Result<RunOutcome> outcome = RunModule(plans, report_.devices.grid, std::move(arguments), settings, watch);
    if (outcome.ok()) report_.run_seconds.push_back(outcome->stats.seconds);
    return outcome;
  }

  int WarnOfElided(const ElidedLiterals& elided) {
    if (elided.count == 0) return kOk;
    if (!flags_.fill_elided)
      return Failed(Fail(elided.first->at, "",
                         StrCat(elided.first->name, " was elided from the dump ({...}), as ",
                                elided.count == 1 ? "the only one" : StrCat("the first of ", elided.count),
                                "; --fill_elided=false refuses to make up its values")));
    input_.diags.Warn(elided.first->at, "",
                      StrCat(elided.count, elided.count == 1 ? " literal was" : " literals were",
                             " elided from the dump ({...}) and filled with made-up numbers; this is the first"));
    if (!flags_.common.json) Report(input_, flags_.common);
    return kOk;
  }

  void WarnOfLiberties(const RunStats& stats, const MixedFloats& mixed) {
    Diags earlier = std::exchange(input_.diags, {});
    if (mixed.count > 0)
      input_.diags.Warn(mixed.first->at, "",
                        StrCat(mixed.count, mixed.count == 1 ? " instruction mixes" : " instructions mix",
                               " float types: computed in the widest, and rounded once to the declared one",
                               mixed.count == 1 ? "" : "; this is the first"));
    for (const Instruction* loop : stats.endless_loops)
      input_.diags.Warn(
          loop->at, "",
          StrCat("the loop ", loop->name,
                 " would never end: its state no longer changes; it was left, as XLA's compilers leave it"));
    for (const Instruction* gather : stats.padded_gathers)
      input_.diags.Warn(gather->at, "",
                        StrCat(gather->name, " was made for more than the one device there is: what others would have "
                               "given is zero, as XLA has it"));
    for (const auto& [target, stub] : stats.stubs)
      input_.diags.Warn(stub.first->at, "",
                        StrCat("the custom call \"", target, "\" was given made-up results",
                               stub.count == 1 ? "" : StrCat(" ", stub.count, " times, here first")));
    if (!flags_.common.json) Report(input_, flags_.common);
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
    report_.inputs = StrCat("no inputs given: generated with ", flags_.argument_mode);
    if (flags_.argument_mode.find("random") != std::string::npos)
      StrAppend(&report_.inputs, ", random_seed ", flags_.random_seed);
    return Generate(module, grid, flags_.argument_mode, flags_.random_seed, job_.placement());
  }

  // What is known to be missing is said before anything is made: memory, and a disk to write to.
  Status CheckRoom() const {
    const Module& module = engine_ == nullptr ? *input_.module : *engine_->program().module;
    const DeviceGrid& grid = report_.devices.grid;
    const bool given = !flags_.inputs.empty() || !input_.arguments.empty();
    const int64_t here = job_.LocalDevices(grid.count());
    const ArgumentMode mode = *ArgumentModeNamed(flags_.argument_mode);
    SHOAL_TRY(CheckRunMemory(module, grid,
                             given ? ArgumentBytes(module) : GeneratedBytes(module, grid, mode, job_.placement()), here));
    const int64_t written = flags_.job.gather ? (job_.leads() ? grid.count() : 0) : here;
    if (!flags_.outputs.empty()) SHOAL_TRY(CheckWritable(flags_.outputs, ResultBytes(module) * written));
    if (!flags_.dump.empty()) SHOAL_TRY(CheckWritable(flags_.dump_dir, 0));
    return {};
  }

  Status MakeObservers() {
    if (!flags_.profile.empty() && (!flags_.dump.empty() || flags_.check_nans))
      return WorldFailed("--profile times a run that nobody watches: not together with --dump or --check_nans");
    const int64_t devices = report_.devices.grid.count();
    std::vector<Observer*> observers;
    if (!flags_.dump.empty()) {
      SHOAL_ASSIGN(dump, Dump::Create(*input_.module, flags_.dump, flags_.dump_dir, devices));
      dump_ = std::move(dump);
      observers.push_back(dump_.get());
    }
    if (flags_.check_nans) {
      nan_check_ = NewNanCheck(*input_.module, devices);
      observers.push_back(nan_check_.get());
    }
    if (!observers.empty()) observer_ = NewObservers(observers);
    return {};
  }

  // Called by all devices' threads.
  void KeepOutfeed(const Device& device, const Value& value) {
    std::vector<Value> leaves;
    AppendLeaves(value, leaves);
    std::lock_guard lock(outfeed_mutex_);
    for (const Value& leaf : leaves)
      if (leaf.IsArray())
        StrAppend(&outfeeds_[device.id()], "outfeed, device ", device.id(), ": ", LiteralText(leaf.array()), "\n");
  }

  int Print() {
    report_.diags = input_.diags;
    report_.text = input_.text();
    std::string text = flags_.common.json      ? ReportJson(report_)
                       : flags_.print_literals ? ReportLiterals(report_)
                                               : ReportText(report_);
    for (auto device = outfeeds_.rbegin(); device != outfeeds_.rend(); ++device) text.insert(0, device->second);
    return WriteText(text);
  }

  void Say(const std::string& sentence) const {
    if (!sentence.empty() && !flags_.common.json) shoal::Say(sentence + "\n");
  }

  int Failed(const Diag& diag) { return Refuse(input_, diag, flags_.common); }

  const RunFlags& flags_;
  JobOfVerb job_;  // before all else: it is left last
  Input input_;
  RunOutcome outcome_;  // counts the bytes of the arrays that the report holds, so it must outlive them
  RunReport report_;
  std::mutex outfeed_mutex_;
  std::map<int64_t, std::string> outfeeds_;  // of each device, as text
  std::unique_ptr<Dump> dump_;
  std::unique_ptr<Observer> nan_check_, observer_;
  std::future<void> prefetch_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<StepLog> step_log_;
};

}  // namespace

Run AddRun(Options& verb) {
  auto flags = std::make_shared<RunFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--num_replicas", flags->num_replicas, "Replicas; default: what the module says")
      .Between(1, kMostDevices);
  verb.Value("--num_partitions", flags->num_partitions, "Partitions; default: what the module says")
      .Between(1, kMostDevices);
  verb.Value("--inputs", flags->inputs, "A folder with dD/K.npy or K.npy for all devices, or an .npz file");
  verb.Value("--outputs", flags->outputs, "Write the results to this folder, as dD/K.npy");
  verb.Value("--hlo_argument_mode", flags->argument_mode, "How to make up inputs that are not given")
      .OneOf(ArgumentModeNames());
  verb.Value("--random_seed", flags->random_seed, "For made-up inputs and rng");
  verb.Value("--numerics", flags->numerics, "How sums round where HLO leaves it open; default: what the module shows")
      .OneOf({std::begin(kNumerics), std::end(kNumerics)});
  verb.Flag("--print_literals", flags->print_literals, "Print the results as HLO literals, not a summary");
  verb.Flag("--check_nans", flags->check_nans, "Stop at the first instruction that makes a NaN or an infinity");
  verb.Value("--dump", flags->dump, "Write every value of instructions whose name matches this expression");
  verb.Value("--dump_dir", flags->dump_dir, "Where to, as dD/NAME.npy");
  flags->limits.AddTo(verb);
  verb.Flag("--stub-custom-calls,--stub_custom_calls", flags->stub_custom_calls,
                 "Make up the results of custom calls that nobody knows");
  verb.Value("--fill_elided", flags->fill_elided, "Make up the values of literals that the dump elided");
  flags->engine.AddTo(verb);
  verb.Value("--num_repeats", flags->num_repeats, "Run so often; the results are those of the last run")
      .Between(1, int64_t{1} << 40);
  verb.FlagWithValue("--profile", flags->profile, "-",
                     "Print the steps that took longest; with a file, write a trace for Perfetto (ui.perfetto.dev)");
  verb.Flag("--explain", flags->explain, "Print the program that --engine=jit would run, and do not run it");
  verb.Flag("--check_snapshot", flags->check_snapshot,
                 "Compare with the result that a snapshot recorded; exit status 1 if they differ");
  flags->job.AddTo(verb);
  flags->common.AddTo(verb, Reading::kStrict);
  verb.Footer(
      "run is always strict: a module that check refuses is refused. K counts the arrays of the parameters or of the\n"
      "result, tuples flattened; D is replica * num_partitions + partition. Exit status 1 if the module, its inputs "
      "or\n"
      "its execution is at fault, 2 if the call or the machine is. docs/run.md says more.\n\n"
      "Examples:\n"
      "  shoal run module.hlo\n"
      "  shoal run module.hlo --num_partitions=8 --inputs=in --outputs=out\n"
      "  shoal run module.hlo --hlo_argument_mode=use_zeros_as_input --print_literals\n"
      "  shoal run module.hlo --check_nans --dump='^dot' --dump_dir=/tmp/dots\n"
      "  shoal run module.hlo --profile=trace.json\n"
      "  mpirun -n 4 shoal run module.hlo --outputs=out");
  return [=] { return RunVerb(*flags).Run(); };
}

}  // namespace shoal
