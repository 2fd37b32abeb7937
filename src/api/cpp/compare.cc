#include "api/cpp/execute_state.h"
#include "api/cpp/facts_state.h"
#include "core/base/strings.h"
#include "execute/data/inputs.h"
#include "execute/data/job_outputs.h"
#include "execute/interp/memory_preflight.h"
#include "present/reports/compare_report.h"
#include "shoal/diff.h"

namespace shoal::internal {
namespace {

using ExecutableHandle = std::shared_ptr<const ExecutableState>;

// One of the two modules, and its results.
struct Side {
  ModuleHandle module;
  InferredGrid devices;
  ExecutableHandle executable;
  RunOutcome outcome;

  const Module& hlo() const { return module->module(); }
  ModuleOnDevices on_devices() const { return {hlo(), devices.grid}; }
};

// Compiles the module for the side's devices, and runs it.
shoal::Status RunSide(const shoal::CompareOptions& options, Arguments arguments, Side& side) {
  shoal::CompileOptions compile = options.compile;
  compile.num_replicas = side.devices.grid.replicas;
  compile.num_partitions = side.devices.grid.partitions;
  shoal::Result<shoal::Executable> executable = shoal::Compile(shoal::Module(side.module), compile);
  if (!executable.ok()) return executable.error();
  side.executable = executable->state();
  shoal::Result<RunOutcome> outcome = RunArguments(side.executable, std::move(arguments), options.execute);
  if (!outcome.ok()) return outcome.error();
  side.outcome = std::move(*outcome);
  if (Job* job = JobOf(compile.job)) GatherResults(*job, *side.executable->placement(), side.hlo(), side.outcome.results);
  return Nothing();
}

Result<Arguments> MakeArguments(const Side& side, const shoal::CompareOptions& options, const Placement* placement, std::string& inputs) {
  const DeviceGrid& grid = side.devices.grid;
  if (!options.inputs.path.empty()) {
    inputs = StrCat("inputs from ", options.inputs.path);
    return ReadArguments(side.hlo(), grid, options.inputs.path, placement);
  }
  if (!side.module->file.arguments.empty()) {
    inputs = "inputs from the snapshot";
    return SnapshotArguments(side.hlo(), grid, side.module->file.arguments, placement);
  }
  inputs = StrCat("inputs generated with ", InputModeNames()[static_cast<size_t>(options.inputs.mode)], ", random_seed ",
                  options.inputs.seed, GeneratedInputNotes(side.hlo(), options.inputs));
  return GenerateInputs(side.hlo(), grid, options.inputs, placement);
}

shoal::Result<Side> SideOf(const shoal::Module& module, const shoal::CompareOptions& options) {
  if (module.empty()) return NoModuleError();
  shoal::Result<ModuleHandle> runnable = RunnableModule(module.state());
  if (!runnable.ok()) return runnable.error();
  Side side{std::move(*runnable), {}, {}, {}};
  side.devices = InferDevices(side.hlo(), options.compile.num_replicas, options.compile.num_partitions);
  if (Status fits = CheckRunnable(side.hlo(), side.devices); !fits.ok()) return side.module->MakeError(fits.diag());
  return side;
}

shoal::Comparison PublicComparison(CompareReport given) {
  auto report = std::make_shared<const CompareReport>(std::move(given));
  shoal::Comparison out{MakeView([report](const auto& style) { return CompareText(*report, style); },
                                 [report] { return CompareJson(*report); })};
  out.agrees = Agree(report->outputs);
  for (const OutputComparison& output : report->outputs) {
    const Difference& difference = output.difference;
    out.outputs.push_back({output.number, difference.max_abs, difference.max_rel, difference.elements,
                           difference.num_exceeding, output.note});
  }
  return out;
}

// Everything that must fit before the arguments are made.
Status CheckSides(const Side& whole, const Side& parts, const shoal::CompareOptions& options) {
  for (const Side* side : {&whole, &parts}) {
    SHOAL_TRY(CheckConstantMemory(side->hlo()));
    SHOAL_TRY(CheckArgumentBytes(side->hlo(), options.inputs.max_bytes));
  }
  // The arguments of both sides are in memory simultaneously.
  const double bytes = ArgumentBytes(whole.hlo()) + ArgumentBytes(parts.hlo());
  return CheckRunMemory(whole.hlo(), whole.devices.grid, bytes, whole.devices.grid.count());
}

// In a job, the devices of this process.
Result<std::optional<Placement>> PlacementOf(const Side& side, const shoal::Job& job) {
  if (job.empty()) return std::optional<Placement>();
  SHOAL_ASSIGN(placement, job.state()->Place(side.devices.grid.count()));
  return std::optional<Placement>(std::move(placement));
}

const Placement* Pointer(const std::optional<Placement>& placement) { return placement ? &*placement : nullptr; }

// The arguments of both modules.
struct PairArguments {
  Arguments whole, parts;
};
Result<PairArguments> MakePairArguments(const Side& whole, const Side& parts, const Partitioning& partitioning,
                                        const shoal::CompareOptions& options, std::string& inputs) {
  SHOAL_TRY(CheckSides(whole, parts, options));
  SHOAL_ASSIGN(whole_place, PlacementOf(whole, options.compile.job));
  SHOAL_ASSIGN(parts_place, PlacementOf(parts, options.compile.job));
  // If both modules get the same arguments, each process makes only those of its own devices; else it needs all.
  const bool same_devices = !partitioning.is_split && whole.devices.grid.count() == parts.devices.grid.count();
  PairArguments pair;
  SHOAL_ASSIGN(arguments, MakeArguments(whole, options, same_devices ? Pointer(whole_place) : nullptr, inputs));
  pair.whole = std::move(arguments);
  pair.parts = partitioning.is_split
                   ? SplitArguments(pair.whole.at(0), parts.on_devices(), partitioning, Pointer(parts_place))
                   : RegroupArguments(pair.whole, parts.on_devices());
  if (whole_place)
    for (size_t device = 0; device < pair.whole.size(); ++device)
      if (!whole_place->IsLocal(static_cast<int64_t>(device))) pair.whole[device].clear();
  return pair;
}

shoal::Result<shoal::Comparison> CompareSides(Side& a, Side& b, const shoal::CompareOptions& options) {
  for (Side* side : {&a, &b})
    if (Status complete = CheckLiterals(side->hlo()); !complete.ok()) return side->module->MakeError(complete.diag());
  const bool is_swapped = IsPartitionedForm(a.hlo(), b.hlo());
  Side &whole = is_swapped ? b : a, &parts = is_swapped ? a : b;
  const Module* shardings = options.shardings_from.empty() ? nullptr : &options.shardings_from.state()->module();
  Result<Partitioning> partitioning = PartitionPair(whole.hlo(), whole.devices, parts.on_devices(), shardings);
  if (!partitioning.ok()) return parts.module->MakeError(partitioning.diag());
  CompareReport report;
  Result<PairArguments> arguments = MakePairArguments(whole, parts, *partitioning, options, report.inputs);
  if (Job* job = JobOf(options.compile.job))
    if (Status ready = job->AgreeOnStatus(arguments.ok() ? Status() : Status(arguments.diag())); !ready.ok())
      return whole.module->MakeError(ready.diag());
  if (!arguments.ok()) return whole.module->MakeError(arguments.diag());
  if (partitioning->is_split) report.notes = partitioning->notes;
  if (shoal::Status ran = RunSide(options, std::move(arguments->whole), whole); !ran.ok()) return ran.error();
  if (shoal::Status ran = RunSide(options, std::move(arguments->parts), parts); !ran.ok()) return ran.error();
  if (!options.compile.job.is_root()) return shoal::Comparison();
  Result<std::vector<OutputComparison>> outputs =
      CompareResults(whole.hlo(), whole.outcome.results, parts.on_devices(), parts.outcome.results, *partitioning,
                     {options.atol, options.rtol});
  if (!outputs.ok()) return parts.module->MakeError(outputs.diag());
  if (is_swapped)
    for (OutputComparison& output : *outputs) std::swap(output.a, output.b);
  report.outputs = std::move(*outputs);
  report.a = StrCat(a.module->name(), " on ", a.devices.from);
  report.b = StrCat(b.module->name(), " on ", b.devices.from);
  return PublicComparison(std::move(report));
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Result<Comparison> Compare(const Module& a, const Module& b, const CompareOptions& options) {
  if (options.inputs.mode > InputMode::kDeviceId) return internal::ArgumentError("unknown input mode");
  return internal::Guarded([&]() -> Result<Comparison> {
    Result<internal::Side> left = internal::SideOf(a, options), right = internal::SideOf(b, options);
    if (!left.ok() || !right.ok()) return left.ok() ? right.error() : left.error();
    return internal::CompareSides(*left, *right, options);
  });
}

}  // namespace shoal::inline v0_1
