#include "predict/timeline/predict.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analyze/memory/memory.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool IsTiled(const Instruction& hlo) {
  const Sharding* sharding = hlo[kSharding];
  return sharding != nullptr && sharding->kind == Sharding::Kind::kTiled;
}

// If the module is not partitioned yet, returns the first instruction with a sharding, else null.
const Instruction* FirstUnpartitioned(const Module& module, const ModuleCollectives& collectives) {
  if (!collectives.all.empty() || module.is_scheduled) return nullptr;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) {
      const bool annotation = HasTrait(*hlo, kStatesSharding);
      if ((!IsParameter(*hlo) && IsTiled(*hlo)) || annotation) return hlo;
    }
  return nullptr;
}

// True if all operands and called computations exist. Unverified text does not guarantee this.
bool IsComplete(const Module& module) {
  const absl::flat_hash_set<const Computation*> defined(module.computations.begin(), module.computations.end());
  if (module.entry == nullptr || !defined.contains(module.entry)) return false;
  for (const Computation* computation : module.computations) {
    if (!computation->defined || computation->root == nullptr) return false;
    for (const Instruction* hlo : computation->instructions) {
      for (const Instruction* operand : hlo->operands)
        if (operand == nullptr || operand->parent != computation) return false;
      for (const Computation* callee : CalledComputations(*hlo))
        if (!defined.contains(callee)) return false;
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

// Model flops utilization: the time of all flops at peak rate, as a fraction of the step time.
double UtilizationOf(const SimulatedStep& prediction, const DeviceModel& device) {
  double busy_seconds = 0;
  for (const OpTime& op : prediction.ops) {
    const MatrixUnit unit = op.kernel.product ? op.kernel.product->unit : MatrixUnit::kBf16;
    busy_seconds += op.flops / PeakOf(device, unit);
  }
  return prediction.step_seconds > 0 ? busy_seconds / prediction.step_seconds : 0;
}

void AddWarnings(const Prediction& result, std::vector<std::string>& warnings) {
  const Machine& machine = result.machine;
  if (result.memory_needed > machine.device.memory)
    warnings.push_back(StrCat("needs ", result.memory_needed / 1e9, " GB of memory per device; the device has ",
                              machine.device.memory / 1e9, " GB"));
  double max_latency = 0;
  const AsyncTime* worst = nullptr;
  for (const AsyncTime& time : result.prediction.asyncs) {
    const double latency = time.times * time.async->timing.latency;
    if (time.async->use == nullptr || latency < .5 * time.seconds || latency <= max_latency || time.async->place.nodes < 256) continue;
    max_latency = latency, worst = &time;
  }
  if (worst != nullptr && max_latency > .02 * result.prediction.step_seconds)
    warnings.push_back(StrCat("latency-bound: ", worst->async->start->name, " over ", worst->async->place.members,
                              " devices on ", worst->async->place.nodes, " nodes has ", worst->async->timing.latency * 1e3,
                              " ms of latency; a hierarchical algorithm would help, more bandwidth would not"));
}

// Transforms a partitioned module like XLA's GPU pipeline: creates reduce-scatters and combines collectives.
// Returns null if no pass changes the module.
std::unique_ptr<Module> WithTransformedCollectives(const Module& module, Origins& origins) {
  if (module.is_scheduled || !IsComplete(module) || !HasCollectives(module)) return nullptr;
  std::unique_ptr<Module> copy = CloneModule(module);
  std::vector<absl::flat_hash_map<std::string_view, const Instruction*>> names(module.computations.size());
  for (size_t c = 0; c < module.computations.size(); ++c)
    for (size_t i = 0; i < module.computations[c]->instructions.size(); ++i) {
      const Instruction* hlo = module.computations[c]->instructions[i];
      origins[copy->computations[c]->instructions[i]] = hlo;
      names[c][hlo->name] = hlo;
    }
  bool changed = false;
  for (auto* pass : {&CreateReduceScatters, &CombineCollectives}) {
    const Result<bool> done = pass(*copy, PassContext());
    if (!done.ok()) return nullptr;
    changed |= done.value();
  }
  if (!changed) return nullptr;
  // A pass gives each new instruction the name of the instruction that it replaces.
  for (size_t c = 0; c < names.size(); ++c)
    for (const Instruction* hlo : copy->computations[c]->instructions)
      if (auto found = names[c].find(hlo->name); found != names[c].end()) origins.try_emplace(hlo, found->second);
  return copy;
}

}  // namespace

PredictionInput::PredictionInput(std::shared_ptr<const ModuleFacts> original) : original_(std::move(original)) {
  Origins origins;
  std::shared_ptr<const Module> transformed = WithTransformedCollectives(original_->module(), origins);
  if (transformed == nullptr) {
    facts_ = original_;
    return;
  }
  origins_ = std::move(origins);
  FactOptions options = original_->options();
  options.num_replicas = original_->devices().grid.replicas;
  options.num_partitions = original_->devices().grid.partitions;
  facts_ = std::make_shared<const ModuleFacts>(std::move(transformed), std::move(options));
}

Result<std::unique_ptr<PredictionInput>> PredictionInput::Of(std::shared_ptr<const ModuleFacts> facts) {
  std::unique_ptr<PredictionInput> input(new PredictionInput(std::move(facts)));
  if (const Instruction* hlo = FirstUnpartitioned(input->original().module(), input->facts().collectives()))
    return Fail(hlo->at, "time.C1",
                StrCat("'", hlo->name, "' has a sharding but the module has no collectives: it is in global form; "
                                       "`shoal time` needs the module after SPMD partitioning"));
  return input;
}

Result<Prediction> PredictOnMachine(const PredictionInput& input, const Machine& machine) {
  Prediction result;
  result.machine = machine;
  const int64_t devices = input.devices();
  if (!machine.fixed_size) {
    ScaleToDevices(result.machine, devices);
  } else if (machine.devices() != static_cast<double>(devices) && devices > machine.devices_per_node()) {
    result.scale_out = machine.devices() / static_cast<double>(devices);
  } else if (machine.devices() < static_cast<double>(devices)) {
    return Fail(StrCat("the module needs ", devices, " devices, but ", machine.name, " has ", machine.devices(),
                       "; choose a larger machine"));
  }
  const DevicePlanInput plan{input.facts(), result.machine, devices, result.scale_out, &input.origins()};
  result.prediction = Predict(plan);
  for (OpTime& op : result.prediction.ops)
    if (auto origin = input.origins().find(op.hlo); origin != input.origins().end()) op.hlo = origin->second;
  result.mfu = UtilizationOf(result.prediction, result.machine.device);
  if (result.prediction.step_seconds > 0)
    result.bandwidth = result.prediction.bytes / result.prediction.step_seconds;
  result.memory_needed = static_cast<double>(DeviceBytes(input.original().memory()));
  AddWarnings(result, result.warnings);
  return result;
}

}  // namespace shoal::internal
