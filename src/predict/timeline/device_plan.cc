#include "predict/timeline/device_plan.h"

#include <algorithm>

#include "analyze/cost/cost.h"
#include "analyze/cost/kernel_traffic.h"
#include "analyze/facts/async_regions.h"
#include "core/ops/families.h"
#include "predict/timeline/estimated_schedule.h"

namespace shoal::internal {
namespace {

constexpr int64_t kHostSpace = 5;

bool IsInHost(const Shape& shape) {
  if (shape.IsTuple())
    return std::any_of(shape.elements().begin(), shape.elements().end(), [](const Shape* e) { return IsInHost(*e); });
  return shape.layout() != nullptr && shape.layout()->memory_space == kHostSpace;
}

std::vector<const Instruction*> InputsOf(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kFusion || hlo.opcode == Opcode::kCustomCall)
    return {hlo.operands.begin(), hlo.operands.end()};
  const Instruction* self[] = {&hlo};
  return ViewOf(self, self).inputs;
}

// The one op, or fusion, that an async-start runs beside the rest.
const Instruction* Wrapped(const Instruction& start) {
  if (const Instruction* wrapped = AsyncWrapped(start)) return wrapped;
  const Computation* callee = start[kCalls];
  return callee != nullptr ? callee->root : nullptr;
}

bool IsLoneSlice(const Instruction& hlo) {
  const Computation* fused = hlo.opcode == Opcode::kFusion ? hlo[kCalls] : nullptr;
  if (fused == nullptr || fused->root == nullptr) return false;
  const Opcode root = BehindConverts(*fused->root).opcode;
  return root == Opcode::kDynamicSlice || root == Opcode::kDynamicUpdateSlice || root == Opcode::kSlice;
}

// Copies within the device's memory that a start begins: they take their turn, since they live on the bandwidth that
// the kernels beside them would have.
DevicePlanOp StepForAsync(const Instruction& start) {
  DevicePlanOp step{DevicePlanOp::Kind::kKernel, &start, {}, {}, nullptr};
  const Instruction* wrapped = Wrapped(start);
  if (wrapped == nullptr) return {DevicePlanOp::Kind::kNoOp, &start, {}, {}, nullptr};
  step.kernel = DescribeKernel(*wrapped);
  step.inputs = {start.operands.begin(), start.operands.end()};
  step.kernel.reads.resize(step.inputs.size());
  if (IsLoneSlice(*wrapped)) step.kernel.family = KernelKind::kMemcpy;
  return step;
}

class ScheduledPlanner {
 public:
  explicit ScheduledPlanner(const DevicePlanInput& input) : input_(input), regions_(input.executions.calls()) {
    for (const LogicalCollective& use : input.collectives.all) {
      PlannedAsync& async = AddCollective(input, use, use.kind, plan_);
      (use.async() ? starts_ : sync_)[use.start] = &async;
      if (use.async()) dones_[use.done] = &async;
    }
  }

  DevicePlan Make() {
    for (const Computation* computation : RunningComputations(input_)) {
      DevicePlanBlock& block = plan_.blocks[computation];
      for (const Instruction* hlo : computation->instructions) Add(*hlo, block);
    }
    return std::move(plan_);
  }

 private:
  void Add(const Instruction& hlo, DevicePlanBlock& block) {
    if (auto found = sync_.find(&hlo); found != sync_.end())
      return block.push_back({DevicePlanOp::Kind::kCollective, &hlo, FusedWork(hlo), InputsOf(hlo), found->second});
    if (auto found = starts_.find(&hlo); found != starts_.end())
      return block.push_back({DevicePlanOp::Kind::kStart, &hlo, FusedWork(hlo), InputsOf(hlo), found->second});
    if (auto found = dones_.find(&hlo); found != dones_.end())
      return block.push_back({DevicePlanOp::Kind::kDone, &hlo, FusedWork(hlo), InputsOf(hlo), found->second});
    if (PlannedAsync* sent = SentTo(hlo))
      return block.push_back({DevicePlanOp::Kind::kReceive, &hlo, {}, {}, sent});
    if (hlo.opcode == Opcode::kCopyStart) return AddCopy(hlo, block);
    if (hlo.opcode == Opcode::kAsyncStart) return block.push_back(StepForAsync(hlo));
    block.push_back(StepFor(hlo, input_));
  }

  // The send that a recv-done waits for: that of its channel.
  PlannedAsync* SentTo(const Instruction& hlo) {
    if (hlo.opcode != Opcode::kRecvDone) return nullptr;
    for (PlannedAsync& async : plan_.asyncs)
      if (async.use != nullptr && async.use->hlo->opcode == Opcode::kSend && (*async.use->hlo)[kChannelId] == hlo[kChannelId])
        return &async;
    return nullptr;
  }

  // A fusion of a TPU computes while it drives a collective.
  static KernelDescriptor FusedWork(const Instruction& hlo) { return hlo.opcode == Opcode::kFusion ? DescribeKernel(hlo) : KernelDescriptor{}; }

  void AddCopy(const Instruction& start, DevicePlanBlock& block) {
    PlannedAsync& async = plan_.asyncs.emplace_back();
    async.kind = Opcode::kCopyStart;
    async.start = &start;
    async.bytes = start.operands.empty() ? 0 : DataBytes(start.operand_shape(0));
    const bool host = IsInHost(start.shape());
    const DeviceModel& device = input_.machine.device;
    const double rate = host ? device.host_bandwidth : device.bandwidth * device.memory_efficiency / 2;
    async.timing = {async.bytes / rate + 2e-6, 2e-6, host ? "copy to or from the host" : "copy between memories", Fabric::kNode};
    block.push_back({DevicePlanOp::Kind::kStart, &start, {}, {}, &async});
    if (const Instruction* done = regions_.DoneOf(start)) dones_[done] = &async;
  }

  const DevicePlanInput& input_;
  AsyncRegions regions_;
  DevicePlan plan_;
  absl::flat_hash_map<const Instruction*, PlannedAsync*> sync_, starts_, dones_;
};

}  // namespace

PlannedAsync& AddCollective(const DevicePlanInput& input, const LogicalCollective& use, Opcode kind, DevicePlan& plan) {
  PlannedAsync& async = plan.asyncs.emplace_back();
  async.use = &use;
  async.kind = kind;
  async.start = use.start;
  if (input.origins != nullptr)
    if (auto known = input.origins->find(use.start); known != input.origins->end()) async.start = known->second;
  async.place = GroupTopologyOf(*use.participants, input.machine, input.scale_out);
  // Stretched, a gather still gives the result it gave.
  async.bytes = BytesForTiming(kind, static_cast<double>(use.payload_bytes), std::max<int64_t>(1, use.participants->group_size));
  async.timing = CollectiveTime(kind, async.bytes, async.place, input.machine);
  return async;
}

DevicePlanOp StepFor(const Instruction& hlo, const DevicePlanInput& input) {
  DevicePlanOp step{DevicePlanOp::Kind::kNoOp, &hlo, {}, {}, nullptr};
  const OpInfo& info = Info(hlo.opcode);
  if (CallsComputations(hlo) && hlo.opcode != Opcode::kFusion && hlo.opcode != Opcode::kCustomCall) {
    if (info.call_kind == CallKind::kLoop) step.kind = DevicePlanOp::Kind::kLoop;
    if (info.call_kind == CallKind::kBranch) step.kind = DevicePlanOp::Kind::kConditional;
    if (info.call_kind == CallKind::kOnce) step.kind = DevicePlanOp::Kind::kCall;
    if (step.kind != DevicePlanOp::Kind::kNoOp) return step;
  }
  const bool no_work = info.op_class == OpClass::kStructure || info.op_class == OpClass::kTransfer ||
                       info.op_class == OpClass::kCollective;
  if (no_work && hlo.opcode != Opcode::kInfeed && hlo.opcode != Opcode::kOutfeed) return step;
  step.kernel = DescribeKernel(hlo);
  if (hlo.opcode == Opcode::kInfeed || hlo.opcode == Opcode::kOutfeed || (IsInHost(hlo.shape()) && hlo.opcode == Opcode::kCopy))
    step.kernel.family = KernelKind::kHostCopy;
  if (step.kernel.family == KernelKind::kNothing) return step;
  step.kind = DevicePlanOp::Kind::kKernel;
  step.inputs = InputsOf(hlo);
  (void)input;
  return step;
}

std::vector<const Computation*> RunningComputations(const DevicePlanInput& input) {
  std::vector<const Computation*> running;
  const CallGraph& calls = input.executions.calls();
  for (const Computation* computation : calls.ReachableFromEntry()) {
    const auto callers = calls.CallersOf(*computation);
    const bool by_itself = computation == input.module.entry ||
                           std::any_of(callers.begin(), callers.end(), [](const Instruction* caller) {
                             return caller->opcode != Opcode::kFusion && caller->opcode != Opcode::kCustomCall &&
                                    caller->opcode != Opcode::kAsyncStart && CallKindOf(*caller) != CallKind::kElements;
                           });
    if (by_itself) running.push_back(computation);
  }
  return running;
}

DevicePlan BuildDevicePlan(const DevicePlanInput& input) {
  if (input.module.is_scheduled) return ScheduledPlanner(input).Make();
  return EstimateSchedule(input);
}

}  // namespace shoal::internal
