#include "predict/timeline/predict.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool IsTiled(const Instruction& hlo) {
  const Sharding* sharding = hlo[kSharding];
  return sharding != nullptr && sharding->kind == Sharding::Kind::kTiled;
}

// The first instruction that says how it is to be divided, in a module where nothing has been divided yet.
const Instruction* Undivided(const Module& module, const ModuleCollectives& collectives) {
  if (!collectives.all.empty() || module.is_scheduled) return nullptr;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) {
      const bool remark = TargetOf(*hlo) == "Sharding";
      if ((!IsParameter(*hlo) && IsTiled(*hlo)) || remark) return hlo;
    }
  return nullptr;
}

// Everything that is named is there, as it need not be in loose text.
bool IsWhole(const Module& module) {
  const absl::flat_hash_set<const Computation*> known(module.computations.begin(), module.computations.end());
  if (module.entry == nullptr || !known.contains(module.entry)) return false;
  for (const Computation* computation : module.computations) {
    if (!computation->defined || computation->root == nullptr) return false;
    for (const Instruction* hlo : computation->instructions) {
      for (const Instruction* operand : hlo->operands)
        if (operand == nullptr || operand->parent != computation) return false;
      for (const Computation* callee : CalledComputations(*hlo))
        if (!known.contains(callee)) return false;
    }
  }
  return true;
}

bool HasCollectives(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (Info(hlo->opcode).op_class == OpClass::kCollective) return true;
  return false;
}

// The flops of the products' own types against the peak of the type most of them have.
double UtilisationOf(const SimulatedStep& prediction, const DeviceModel& device) {
  double busy = 0;
  for (const OpTime& op : prediction.ops) {
    const MatrixUnit unit = op.kernel.product ? op.kernel.product->unit : MatrixUnit::kBf16;
    busy += op.flops / PeakOf(device, unit);
  }
  return prediction.step_seconds > 0 ? busy / prediction.step_seconds : 0;
}

void Warn(const Prediction& forecast, std::vector<std::string>& warnings) {
  const Machine& machine = forecast.machine;
  if (forecast.memory_needed > machine.device.memory)
    warnings.push_back(StrCat("needs ", forecast.memory_needed / 1e9, " GB on each device, which has ",
                              machine.device.memory / 1e9, " GB"));
  double late = 0;
  const AsyncTime* worst = nullptr;
  for (const AsyncTime& time : forecast.prediction.asyncs) {
    const double latency = time.times * time.async->timing.latency;
    if (time.async->use == nullptr || latency < .5 * time.seconds || latency <= late || time.async->place.nodes < 256) continue;
    late = latency, worst = &time;
  }
  if (worst != nullptr && late > .02 * forecast.prediction.step_seconds)
    warnings.push_back(StrCat("does not scale: ", worst->async->start->name, " goes around ", worst->async->place.members,
                              " devices on ", worst->async->place.nodes, " nodes, and its ", worst->async->timing.latency * 1e3,
                              " ms of latency no bandwidth helps against; groups of groups would"));
}

}  // namespace

// What SPMD partitioning leaves, as XLA's GPU pipeline goes on with it: reduce-scatters, and fewer, larger collectives.
PredictionInput::Rewritten PredictionInput::WithFewerCollectives(const Module& module) {
  Rewritten made;
  if (module.is_scheduled || !IsWhole(module) || !HasCollectives(module)) return made;
  std::unique_ptr<Module> copy = CloneModule(module);
  std::vector<absl::flat_hash_map<std::string_view, const Instruction*>> names(module.computations.size());
  for (size_t c = 0; c < module.computations.size(); ++c)
    for (size_t i = 0; i < module.computations[c]->instructions.size(); ++i) {
      const Instruction* hlo = module.computations[c]->instructions[i];
      made.origins[copy->computations[c]->instructions[i]] = hlo;
      names[c][hlo->name] = hlo;
    }
  bool changed = false;
  for (auto* pass : {&CreateReduceScatters, &CombineCollectives}) {
    const Result<bool> done = pass(*copy, PassContext());
    if (!done.ok()) return {};
    changed |= done.value();
  }
  if (!changed) return {};
  // What a pass made is called as what it stands for.
  for (size_t c = 0; c < names.size(); ++c)
    for (const Instruction* hlo : copy->computations[c]->instructions)
      if (auto found = names[c].find(hlo->name); found != names[c].end()) made.origins.try_emplace(hlo, found->second);
  made.module = std::move(copy);
  return made;
}

Result<std::unique_ptr<PredictionInput>> PredictionInput::Of(const Module& module, const ExecutionOptions& options,
                                                         const DeviceGrid& grid) {
  std::unique_ptr<PredictionInput> input(new PredictionInput(module, WithFewerCollectives(module), options, grid));
  if (const Instruction* hlo = Undivided(module, input->collectives_))
    return Fail(hlo->at, "time.C1",
                StrCat("'", hlo->name, "' has a sharding and the module no collectives: it is in global form, not yet "
                                       "partitioned; time needs what one device runs, as SPMD partitioning gives it"));
  return input;
}

const ModuleMemory& PredictionInput::memory() const {
  if (memory_ == nullptr) memory_ = std::make_unique<ModuleMemory>(MemoryOf(written_));
  return *memory_;
}

Result<Prediction> PredictOnMachine(const PredictionInput& input, const Machine& machine) {
  Prediction forecast;
  forecast.machine = machine;
  const int64_t devices = input.devices();
  if (!machine.fixed_size) {
    ScaleToDevices(forecast.machine, devices);
  } else if (machine.devices() != static_cast<double>(devices) && devices > machine.devices_per_node()) {
    forecast.scale_out = machine.devices() / static_cast<double>(devices);
  } else if (machine.devices() < static_cast<double>(devices)) {
    return Fail(StrCat("the module is for ", devices, " devices, ", machine.name, " has ", machine.devices()));
  }
  const DevicePlanInput plan{input.module(), input.executions(), input.collectives(), forecast.machine, input.classes(), devices, forecast.scale_out, &input.origins()};
  forecast.prediction = Predict(plan);
  for (OpTime& op : forecast.prediction.ops)
    if (auto known = input.origins().find(op.hlo); known != input.origins().end()) op.hlo = known->second;
  forecast.mfu = UtilisationOf(forecast.prediction, forecast.machine.device);
  if (forecast.prediction.step_seconds > 0)
    forecast.bandwidth = forecast.prediction.bytes / forecast.prediction.step_seconds;
  forecast.memory_needed = static_cast<double>(DeviceBytes(input.memory()));
  Warn(forecast, forecast.warnings);
  return forecast;
}

}  // namespace shoal::internal
