#include "cli/commands/compare.h"

#include <memory>
#include <new>

#include "cli/commands/generate.h"
#include "core/base/strings.h"
#include "core/base/threads.h"
#include "core/base/environment_error.h"
#include "core/verify/verify.h"
#include "execute/data/job_outputs.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/interp/memory_preflight.h"
#include "execute/runtime/run_warnings.h"
#include "present/reports/compare_report.h"

namespace shoal::internal {
namespace {

// One of the two modules and its outcome.
struct Side {
  Input input;
  InferredGrid devices;
  RunOutcome outcome;
  const Module& module() const { return *input.module; }
  ModuleOnDevices on_devices() const { return {*input.module, devices.grid}; }
};

class CompareSession {
 public:
  explicit CompareSession(const CompareFlags& flags) : flags_(flags) {}

  int Run() {
    if (Status joined = job_.Join(flags_.job); !joined.ok()) return Failed(a_, joined.diag());
    for (auto [side, file] : {std::pair(&a_, &flags_.a), std::pair(&b_, &flags_.b)}) {
      side->input = ReadInput(*file, {/*strict=*/true});
      if (side->input.module != nullptr) Verify(*side->input.module, side->input.diags);
      const bool refused = side->input.diags.errors() > 0;
      const Status status = refused ? Status(side->input.diags.found()[0]) : Status();
      if (Status agreed = job_.CheckInputsAgree(side->input, status); !agreed.ok()) return Failed(*side, agreed.diag());
      if (refused) return FailOnInput(side->input, flags_.common);
    }
    if (!flags_.shardings_from.empty()) {
      shardings_ = ReadInput(flags_.shardings_from, {/*strict=*/true});
      if (shardings_.module == nullptr) return FailOnInput(shardings_, flags_.common);
    }
    for (Side* side : {&a_, &b_})
      if (Status judgeable = CheckLiterals(side->module()); !judgeable.ok()) return Failed(*side, judgeable.diag());
    try {
      return CompareModules();
    } catch (const std::bad_alloc&) {
      if (job_.job() != nullptr) job_.Abort("not enough memory on this machine");
      return Failed(a_, EnvironmentError("not enough memory on this machine to run both modules"));
    }
  }

 private:
  int CompareModules() {
    // If one module is partitioned, its parameters are shards of the other's.
    a_.devices = InferDevices(a_.module(), flags_.num_replicas, flags_.num_partitions);
    b_.devices = InferDevices(b_.module(), flags_.num_replicas, flags_.num_partitions);
    for (Side* side : {&a_, &b_})
      if (Status fits = job_.AgreeOnStatus(CheckConstantMemory(side->module())); !fits.ok()) return Failed(*side, fits.diag());
    Side *whole = &a_, *parts = &b_;
    if (IsPartitionedForm(a_.module(), b_.module())) std::swap(whole, parts);
    if (Status fit = flags_.limits.Check(parts->module(), parts->devices); !fit.ok()) return Failed(*parts, fit.diag());
    const Module& first = whole->module();
    Result<Partitioning> partitioning = PartitionPair(first, whole->devices, parts->on_devices(), shardings_.module.get());
    if (!partitioning.ok()) return Failed(*parts, partitioning.diag());
    const bool split = partitioning->is_split;
    if (Status fit = flags_.limits.Check(first, whole->devices); !fit.ok()) return Failed(*whole, fit.diag());
    // The arguments of both sides are in memory simultaneously.
    const double bytes = ArgumentBytes(first) + ArgumentBytes(parts->module());
    if (Status fits = CheckRunMemory(first, whole->devices.grid, bytes, whole->devices.grid.count()); !fits.ok())
      return Failed(*whole, fits.diag());
    // If both modules get the same arguments, each process generates only those of its own devices; else it needs all.
    const bool same_devices = !split && a_.devices.grid.count() == b_.devices.grid.count();
    if (Status placed = job_.Place(whole->devices.grid.count()); !placed.ok()) return Failed(*whole, placed.diag());
    Result<Arguments> arguments = MakeArguments(*whole, same_devices ? job_.placement() : nullptr);
    if (Status ready = job_.AgreeOnStatus(arguments.ok() ? Status() : Status(arguments.diag())); !ready.ok())
      return Failed(*whole, ready.diag());
    if (Status placed = job_.Place(parts->devices.grid.count()); !placed.ok()) return Failed(*parts, placed.diag());
    Arguments part_args = split ? SplitArguments(arguments->at(0), parts->on_devices(), *partitioning, job_.placement())
                               : RegroupArguments(*arguments, parts->on_devices());
    if (!same_devices) DropRemoteArguments(*whole, *arguments);
    if (split) report_.notes = std::move(partitioning->notes);
    int status = Execute(*whole, std::move(*arguments));
    if (status == kOk) status = Execute(*parts, std::move(part_args));
    if (status != kOk) return status;
    return job_.AgreeOnExit(job_.is_root() ? CompareOutputs(*whole, *parts, *partitioning) : kOk);
  }

  // Frees the arguments of devices in other processes.
  void DropRemoteArguments(const Side& side, Arguments& arguments) {
    if (job_.job() == nullptr || !job_.Place(side.devices.grid.count()).ok()) return;
    for (size_t device = 0; device < arguments.size(); ++device)
      if (!job_.placement()->IsLocal(static_cast<int64_t>(device))) arguments[device].clear();
  }

  Result<Arguments> MakeArguments(Side& side, const Placement* placement) {
    const DeviceGrid& grid = side.devices.grid;
    if (!flags_.inputs.empty()) {
      report_.inputs = StrCat("inputs from ", flags_.inputs);
      return ReadArguments(side.module(), grid, flags_.inputs, placement);
    }
    if (!side.input.arguments.empty()) {
      report_.inputs = "inputs from the snapshot";
      return SnapshotArguments(side.module(), grid, side.input.arguments, placement);
    }
    report_.inputs = StrCat("inputs generated with ", flags_.argument_mode, ", random_seed ", flags_.random_seed);
    for (const std::string& note : GeneratedInputNotes(side.module(), flags_.argument_mode))
      StrAppend(&report_.inputs, "; ", note);
    SHOAL_ASSIGN(fixed, ParseFixedInputs(side.module(), flags_.fixed_inputs));
    return Generate(side.module(), grid, flags_.argument_mode, flags_.random_seed, fixed, placement);
  }

  int Execute(Side& side, Arguments arguments) {
    if (Status placed = job_.Place(side.devices.grid.count()); !placed.ok()) return Failed(side, placed.diag());
    const EngineFlags engine = job_.WithThreads(flags_.engine);
    CompileOptions options;
    options.grid = side.devices.grid;
    options.numerics = InferNumerics(side.module()).numerics;
    if (engine.engine == "jit") options.pool = pool_ ? &*pool_ : &pool_.emplace(engine.threads);
    if (pool_ && engine.threads > 0 && pool_->lacks_threads()) return Failed(side, ThreadCreationError());
    Result<std::shared_ptr<const Executable>> executable = CompileModule(
        side.input.module, std::string(side.input.text()->name()), engine, flags_.common.json, options);
    if (!executable.ok()) return Failed(side, executable.diag());
    RunSettings settings;
    settings.pool = (*executable)->program() != nullptr ? options.pool : nullptr;
    settings.job = job_.job();
    settings.placement = job_.placement();
    settings.stub_custom_calls = flags_.stub_custom_calls;
    settings.random_seed = flags_.random_seed;
    flags_.limits.ApplyTo(settings);
    Result<RunOutcome> outcome = (*executable)->Run(std::move(arguments), settings);
    if (!outcome.ok()) return Failed(side, outcome.diag());
    side.outcome = std::move(*outcome);
    if (job_.job() != nullptr) GatherResults(*job_.job(), *job_.placement(), side.module(), side.outcome.results);
    return kOk;
  }

  int CompareOutputs(const Side& whole, const Side& parts, const Partitioning& partitioning) {
    const bool swapped = &whole != &a_;
    Result<std::vector<OutputComparison>> outputs =
        CompareResults(whole.module(), whole.outcome.results, parts.on_devices(), parts.outcome.results, partitioning,
                       flags_.bounds);
    if (!outputs.ok()) return Failed(b_, outputs.diag());
    if (swapped)
      for (OutputComparison& output : *outputs) std::swap(output.a, output.b);
    report_.outputs = std::move(*outputs);
    report_.a = StrCat(a_.input.text()->name(), " on ", a_.devices.from);
    report_.b = StrCat(b_.input.text()->name(), " on ", b_.devices.from);
    const int status = WriteText(flags_.common.json ? CompareJson(report_) : CompareText(report_, Internal(OutputStyle())));
    return status == kOk && !Agree(report_.outputs) ? kInputError : status;
  }

  int Failed(Side& side, const Diag& diag) { return FailOnInput(side.input, diag, flags_.common); }

  const CompareFlags& flags_;
  JobContext job_;  // declared first, so that it is destroyed last
  Side a_, b_;
  Input shardings_;  // of --shardings_from
  CompareReport report_;
  std::optional<ThreadPool> pool_;
};

}  // namespace

int CompareCommand(const CompareFlags& flags) { return CompareSession(flags).Run(); }

}  // namespace shoal::internal
