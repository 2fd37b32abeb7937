#include "predict/timeline/predict.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analyze/cost/recomputation.h"
#include "analyze/facts/global_form.h"
#include "analyze/memory/memory.h"
#include "core/base/diags.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/verify/verify.h"
#include "predict/timeline/backend_mismatch.h"
#include "predict/timeline/origin_finder.h"
#include "transform/passes/pass.h"
#include "transform/passes/pipeline.h"

namespace shoal::internal {
namespace {

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

bool IsValid(Module& module) {
  Diags found;
  Verify(module, found);
  return found.errors() == 0;
}

// The utilization of the matrix units: the time of all matrix products, convolutions and attention calls at peak rate,
// as a fraction of the step time.
void SetUtilization(const DeviceModel& device, Prediction& result) {
  double model_seconds = 0, seconds = 0;
  for (const OpTime& op : result.prediction.ops) {
    if (op.kind != TimeKind::kMatrix) continue;
    const MatrixUnit unit = op.kernel.product ? op.kernel.product->unit : MatrixUnit::kBf16;
    const double at_peak = op.flops / PeakOf(device, unit);
    seconds += at_peak;
    if (!IsRecomputation(*op.hlo)) model_seconds += at_peak;
  }
  if (result.prediction.step_seconds <= 0) return;
  result.mfu = model_seconds / result.prediction.step_seconds;
  result.hfu = seconds / result.prediction.step_seconds;
}

void AddWarnings(const Prediction& result, int64_t devices, std::vector<std::string>& warnings) {
  const Machine& machine = result.machine;
  if (machine.fixed_size && result.scale_out == 1 && machine.devices() > static_cast<double>(devices))
    warnings.push_back(StrCat("the module uses ", devices, " of the ", machine.devices(), " devices of ", machine.name,
                              ": its groups fit in one node, so more nodes change nothing"));
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

}  // namespace

// Transforms an unscheduled module like XLA's GPU pipeline, with the passes of `shoal opt --communication` before its
// schedule. Undoes the rewrites of a CPU compiler first. Returns null if no pass changes the module.
std::unique_ptr<Module> PredictionInput::TransformedModule() {
  const Module& module = original_->module();
  const bool undo = backend().backend == Backend::kCpu && backend().has_evidence && module.is_scheduled;
  if ((module.is_scheduled && !undo) || !IsComplete(module)) return nullptr;
  std::unique_ptr<Module> copy = CloneModule(module);
  if (!IsValid(*copy)) return nullptr;
  const OriginFinder finder(module, *copy);
  if (undo && !RunPipeline(*copy, CpuUndoPipeline()).ok()) return nullptr;
  const Result<bool> changed = RunPipeline(*copy, KernelPipeline());
  if (!changed.ok() || !(*changed || undo)) return nullptr;
  origins_ = finder.OriginsOf(*copy);
  is_cpu_undone_ = undo;
  return copy;
}

PredictionInput::PredictionInput(std::shared_ptr<const ModuleFacts> original)
    : original_(std::move(original)) {
  std::shared_ptr<const Module> transformed = TransformedModule();
  if (transformed == nullptr) {
    facts_ = original_;
    return;
  }
  FactOptions options = original_->options();
  options.num_replicas = original_->devices().grid.replicas;
  options.num_partitions = original_->devices().grid.partitions;
  if (is_cpu_undone_) options.backend = Backend::kGpu;
  facts_ = std::make_shared<const ModuleFacts>(std::move(transformed), std::move(options));
}

Result<std::unique_ptr<PredictionInput>> PredictionInput::Of(std::shared_ptr<const ModuleFacts> facts) {
  std::unique_ptr<PredictionInput> input(new PredictionInput(std::move(facts)));
  if (const Instruction* hlo = FirstGlobalSharding(input->original().module()))
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
  if (!std::isfinite(result.prediction.step_seconds))
    return Fail(StrCat("the step time on ", machine.name, " is not finite: the machine has no bandwidth for a part of the step"));
  for (OpTime& op : result.prediction.ops)
    if (auto origin = input.origins().find(op.hlo); origin != input.origins().end()) op.hlo = origin->second;
  SetUtilization(result.machine.device, result);
  result.backend_mismatch = BackendMismatch(input, result.machine);
  if (result.prediction.step_seconds > 0)
    result.bandwidth = result.prediction.bytes / result.prediction.step_seconds;
  const ModuleFacts& compiled = input.is_cpu_undone() ? input.facts() : input.original();
  result.memory_needed = static_cast<double>(DeviceBytes(compiled.memory()));
  AddWarnings(result, devices, result.warnings);
  return result;
}

}  // namespace shoal::internal
