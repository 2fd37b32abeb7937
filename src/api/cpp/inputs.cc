// The arguments of a run: read from files, recorded in a snapshot, or generated.
#include "api/cpp/arguments.h"

#include "core/base/environment_error.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "execute/data/input_uses.h"
#include "execute/data/inputs.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/data/replicas.h"
#include "execute/interp/memory_preflight.h"

namespace shoal::internal {
namespace {

// The arguments of each device as one tuple; of devices in other processes, none.
Buffers AsBuffers(Arguments arguments, const ExecutableState& executable) {
  Buffers all(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d)
    if (executable.IsLocal(d)) all[d] = std::move(BuffersOf({Value::Tuple(std::move(arguments[d]))})[0]);
  return all;
}

// True for a partitioned module from a compiler that dropped the shardings of the parameters. Replicated parameters
// must then agree, and which ones are replicated is unknown.
bool NeedsSharedInputs(const Module& module, const InputOptions& options) {
  if (options.mode != InputMode::kRandom || !options.shardings_from.empty()) return false;
  if (!module.is_scheduled || module.num_partitions < 2) return false;
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  return std::none_of(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.sharding != nullptr; });
}

bool IsRandom(InputMode mode) { return mode == InputMode::kRandom || mode == InputMode::kSharedRandom; }

Result<std::vector<FixedInput>> FixedInputs(const Module& module, const InputOptions& options) {
  std::vector<FixedInput> inputs;
  for (const auto& [name, value] : options.fixed) {
    if (FindParameter(module, name) == nullptr) return Fail(StrCat("the entry computation has no parameter '", name, "'"));
    inputs.push_back({name, value});
  }
  return inputs;
}

// Makes the arguments of an executable.
class InputMaker {
 public:
  InputMaker(const ExecutableState& executable, const InputOptions& options)
      : executable_(executable), module_(executable.module->module()), options_(options) {}

  Result<Inputs> Make() {
    SHOAL_TRY(CheckArgumentBytes(module_, options_.max_bytes));
    const DeviceGrid& grid = executable_.devices.grid;
    const Placement* placement = executable_.placement();
    const bool is_given = !options_.path.empty() || !executable_.module->file.arguments.empty();
    const auto mode = static_cast<ArgumentMode>(options_.mode);
    SHOAL_TRY(CheckRunMemory(executable_.executable->running_module(), grid,
                             is_given ? ArgumentBytes(module_) : GeneratedBytes(module_, grid, mode, placement),
                             executable_.LocalDevices()));
    SHOAL_ASSIGN(arguments, MakeArguments());
    if (!options_.path.empty() && placement == nullptr) inputs_.differing_replicas = DifferingReplicas(module_, grid, arguments);
    inputs_.arguments = AsBuffers(std::move(arguments), executable_);
    return std::move(inputs_);
  }

 private:
  Result<Arguments> MakeArguments() {
    const DeviceGrid& grid = executable_.devices.grid;
    if (!options_.path.empty()) {
      inputs_.description = StrCat("inputs from ", options_.path);
      return ReadArguments(module_, grid, options_.path, executable_.placement());
    }
    if (!executable_.module->file.arguments.empty()) {
      inputs_.description = "inputs from the snapshot";
      return SnapshotArguments(module_, grid, executable_.module->file.arguments, executable_.placement());
    }
    if (module_.entry->parameters.empty()) return Arguments(static_cast<size_t>(grid.count()));
    InputOptions options = options_;
    const bool shares = NeedsSharedInputs(module_, options);
    if (shares) options.mode = InputMode::kSharedRandom;
    Describe(options, shares);
    return options.shardings_from.empty() ? GenerateInputs(module_, grid, options, executable_.placement()) : SplitInputs(options);
  }

  void Describe(const InputOptions& options, bool shares) {
    std::string& text = inputs_.description;
    text = StrCat("no inputs given: generated with ", InputModeNames()[static_cast<size_t>(options.mode)]);
    if (IsRandom(options.mode)) StrAppend(&text, ", random_seed ", options.seed);
    if (shares)
      StrAppend(&text, "; the module has no shardings, so every device gets the same inputs (", Setting("shardings_from"),
                " splits those of the module before partitioning)");
    text += GeneratedInputNotes(module_, options);
  }

  // Generates the inputs of the module before partitioning and splits them.
  Result<Arguments> SplitInputs(const InputOptions& options) {
    const Module& before = options.shardings_from.state()->module();
    const ModuleOnDevices parts{module_, executable_.devices.grid};
    SHOAL_ASSIGN(partitioning, PartitioningOf(before, parts));
    StrAppend(&inputs_.description, ", split by the shardings of ", options.shardings_from.path());
    SHOAL_ASSIGN(whole, GenerateInputs(before, DeviceGrid{}, options, nullptr));
    return partitioning.is_split ? SplitArguments(whole[0], parts, partitioning, executable_.placement())
                                 : RegroupArguments(whole, parts);
  }

  const ExecutableState& executable_;
  const Module& module_;
  const InputOptions& options_;
  Inputs inputs_;
};

}  // namespace

Status CheckArgumentBytes(const Module& module, int64_t max_bytes) {
  const double bytes = ArgumentBytes(module);
  if (max_bytes == 0 || bytes <= static_cast<double>(max_bytes)) return {};
  return EnvironmentError(StrCat("a device's arguments need ", FormatBytes(bytes), ", more than ", Setting("max_bytes"), " allows"));
}

std::string GeneratedInputNotes(const Module& module, const InputOptions& options) {
  std::string text;
  if (!IsRandom(options.mode)) return text;
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  for (const std::string& note : InputUseNotes(leaves, InputUsesOf(leaves))) StrAppend(&text, "; ", note);
  return text;
}

Result<Arguments> GenerateInputs(const Module& module, const DeviceGrid& grid, const InputOptions& options, const Placement* placement) {
  SHOAL_ASSIGN(fixed, FixedInputs(module, options));
  const auto mode = static_cast<ArgumentMode>(options.mode);
  const double total = GeneratedBytes(module, grid, mode, placement);
  double done = 0;
  OnBytesGenerated on_bytes;
  if (options.progress)
    on_bytes = [&](int64_t bytes) {
      done += static_cast<double>(bytes);
      options.progress(done, total);
    };
  return GenerateArguments(module, grid, {mode, options.seed, fixed}, on_bytes, placement);
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::vector<std::string> InputModeNames() { return internal::ArgumentModeNames(); }

Result<Inputs> Executable::MakeInputs(const InputOptions& options) const {
  if (options.mode > InputMode::kDeviceId) return internal::ArgumentError("unknown input mode");
  return internal::Guarded([&]() -> Result<Inputs> {
    auto inputs = internal::InputMaker(*state_, options).Make();
    if (!inputs.ok()) return state_->module->MakeError(inputs.diag());
    return std::move(*inputs);
  });
}

Result<Buffers> Executable::GenerateArguments(InputMode mode, uint64_t seed) const {
  if (mode > InputMode::kDeviceId) return internal::ArgumentError("unknown input mode");
  return internal::Guarded([&]() -> Result<Buffers> {
    const internal::Module& module = state_->module->module();
    const internal::DeviceGrid& grid = state_->devices.grid;
    const double bytes = internal::GeneratedBytes(module, grid, static_cast<internal::ArgumentMode>(mode), state_->placement());
    if (internal::Status fits = CheckRunMemory(module, grid, bytes, state_->LocalDevices()); !fits.ok())
      return state_->module->MakeError(fits.diag());
    auto arguments = internal::GenerateInputs(module, grid, {.mode = mode, .seed = seed}, state_->placement());
    if (!arguments.ok()) return state_->module->MakeError(arguments.diag());
    return internal::AsBuffers(std::move(*arguments), *state_);
  });
}

Result<Buffers> Executable::ReadArguments(const std::string& path) const {
  return internal::Guarded([&]() -> Result<Buffers> {
    auto read = internal::ReadArguments(state_->module->module(), state_->devices.grid, path, state_->placement());
    if (!read.ok()) return state_->module->MakeError(read.diag());
    return internal::AsBuffers(std::move(*read), *state_);
  });
}

Result<Buffers> Executable::SnapshotArguments() const {
  return internal::Guarded([&]() -> Result<Buffers> {
    const std::vector<const internal::Literal*>& recorded = state_->module->file.arguments;
    if (recorded.empty() && !state_->parameters.empty())
      return internal::ArgumentError("the module is not a snapshot with arguments");
    auto read = internal::SnapshotArguments(state_->module->module(), state_->devices.grid, recorded, state_->placement());
    if (!read.ok()) return state_->module->MakeError(read.diag());
    return internal::AsBuffers(std::move(*read), *state_);
  });
}

}  // namespace shoal::inline v0_1
