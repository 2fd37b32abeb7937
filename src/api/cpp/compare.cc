#include "api/cpp/execute_state.h"
#include "api/cpp/facts_state.h"
#include "core/base/strings.h"
#include "execute/data/inputs.h"
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
  return Nothing();
}

Result<Arguments> MakeArguments(const Side& side, const shoal::CompareOptions& options, std::string& inputs) {
  const DeviceGrid& grid = side.devices.grid;
  if (!options.inputs.empty()) {
    inputs = StrCat("inputs from ", options.inputs);
    return ReadArguments(side.hlo(), grid, options.inputs);
  }
  if (!side.module->file.arguments.empty()) {
    inputs = "inputs from the snapshot";
    return SnapshotArguments(side.hlo(), grid, side.module->file.arguments);
  }
  const auto mode = static_cast<ArgumentMode>(options.input_mode);
  inputs = StrCat("inputs generated with ", ArgumentModeNames()[static_cast<size_t>(mode)], ", random_seed ", options.random_seed);
  return GenerateArguments(side.hlo(), grid, {mode, options.random_seed, {}});
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

shoal::Result<shoal::Comparison> CompareSides(Side& a, Side& b, const shoal::CompareOptions& options) {
  for (Side* side : {&a, &b})
    if (Status complete = CheckLiterals(side->hlo()); !complete.ok()) return side->module->MakeError(complete.diag());
  const bool is_swapped = IsPartitionedForm(a.hlo(), b.hlo());
  Side &whole = is_swapped ? b : a, &parts = is_swapped ? a : b;
  Result<Partitioning> partitioning = PartitionPair(whole.hlo(), whole.devices, parts.on_devices());
  if (!partitioning.ok()) return parts.module->MakeError(partitioning.diag());
  // The arguments of both sides are in memory simultaneously.
  const double bytes = ArgumentBytes(whole.hlo()) + ArgumentBytes(parts.hlo());
  if (Status fits = CheckRunMemory(whole.hlo(), whole.devices.grid, bytes, whole.devices.grid.count()); !fits.ok())
    return whole.module->MakeError(fits.diag());
  CompareReport report;
  Result<Arguments> arguments = MakeArguments(whole, options, report.inputs);
  if (!arguments.ok()) return whole.module->MakeError(arguments.diag());
  Arguments part_arguments = partitioning->is_split
                                 ? SplitArguments(arguments->at(0), parts.on_devices(), *partitioning)
                                 : RegroupArguments(*arguments, parts.on_devices());
  if (partitioning->is_split) report.notes = partitioning->notes;
  if (shoal::Status ran = RunSide(options, std::move(*arguments), whole); !ran.ok()) return ran.error();
  if (shoal::Status ran = RunSide(options, std::move(part_arguments), parts); !ran.ok()) return ran.error();
  Result<std::vector<OutputComparison>> outputs =
      CompareResults(whole.hlo(), whole.outcome.results, parts.on_devices(), parts.outcome.results, *partitioning,
                     {options.atol, options.rtol});
  if (!outputs.ok()) return parts.module->MakeError(outputs.diag());
  if (is_swapped)
    for (OutputComparison& output : *outputs) std::swap(output.a, output.b);
  report.outputs = std::move(*outputs);
  report.a = StrCat(a.module->file.path, " on ", a.devices.from);
  report.b = StrCat(b.module->file.path, " on ", b.devices.from);
  return PublicComparison(std::move(report));
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Result<Comparison> Compare(const Module& a, const Module& b, const CompareOptions& options) {
  if (options.input_mode > InputMode::kDeviceId) return internal::ArgumentError("unknown input mode");
  return internal::Guarded([&]() -> Result<Comparison> {
    Result<internal::Side> left = internal::SideOf(a, options), right = internal::SideOf(b, options);
    if (!left.ok() || !right.ok()) return left.ok() ? right.error() : left.error();
    return internal::CompareSides(*left, *right, options);
  });
}

}  // namespace shoal::inline v0_1
