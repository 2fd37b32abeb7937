#include "predict/timeline/device_plan.h"

#include <algorithm>

#include "analyze/cost/cost.h"
#include "analyze/cost/kernel_traffic.h"
#include "analyze/facts/async_regions.h"
#include "core/ops/families.h"
#include "predict/timeline/estimated_schedule.h"

namespace shoal::internal {
namespace {

constexpr int64_t kHostMemorySpace = 5;

bool IsOnHost(const Shape& shape) {
  if (shape.IsTuple())
    return std::any_of(shape.elements().begin(), shape.elements().end(), [](const Shape* e) { return IsOnHost(*e); });
  return shape.layout() != nullptr && shape.layout()->memory_space == kHostMemorySpace;
}

std::vector<const Instruction*> InputsOf(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kFusion || hlo.opcode == Opcode::kCustomCall)
    return {hlo.operands.begin(), hlo.operands.end()};
  const Instruction* self[] = {&hlo};
  return MakeFusionRegion(self, self).inputs;
}

// Returns the op or fusion that an async-start runs concurrently with other ops.
const Instruction* WrappedOp(const Instruction& start) {
  if (const Instruction* wrapped = AsyncWrapped(start)) return wrapped;
  const Computation* callee = start[kCalls];
  return callee != nullptr ? callee->root : nullptr;
}

bool IsSliceFusion(const Instruction& hlo) {
  const Computation* fused = hlo.opcode == Opcode::kFusion ? hlo[kCalls] : nullptr;
  if (fused == nullptr || fused->root == nullptr) return false;
  const Opcode root = TraceThroughConverts(*fused->root).opcode;
  return root == Opcode::kDynamicSlice || root == Opcode::kDynamicUpdateSlice || root == Opcode::kSlice;
}

// Plans an async-start as a kernel, because it copies within device memory and competes for bandwidth.
DevicePlanOp PlanAsyncStart(const Instruction& start) {
  DevicePlanOp op{DevicePlanOp::Kind::kKernel, &start, {}, {}, nullptr};
  const Instruction* wrapped = WrappedOp(start);
  if (wrapped == nullptr) return {DevicePlanOp::Kind::kNoOp, &start, {}, {}, nullptr};
  op.kernel = DescribeKernel(*wrapped);
  op.inputs = {start.operands.begin(), start.operands.end()};
  op.kernel.reads.resize(op.inputs.size());
  if (IsSliceFusion(*wrapped)) op.kernel.family = KernelKind::kMemcpy;
  return op;
}

class ScheduledPlanner {
 public:
  explicit ScheduledPlanner(const DevicePlanInput& input) : input_(input), regions_(input.facts.executions().calls()) {
    for (const LogicalCollective& collective : input.facts.collectives().all) {
      PlannedAsync& async = AddCollective(input, collective, collective.kind, plan_);
      (collective.async() ? starts_ : sync_)[collective.start] = &async;
      if (collective.async()) dones_[collective.done] = &async;
    }
  }

  DevicePlan Build() {
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
    if (PlannedAsync* send = SendFor(hlo))
      return block.push_back({DevicePlanOp::Kind::kReceive, &hlo, {}, {}, send});
    if (hlo.opcode == Opcode::kCopyStart) return AddCopy(hlo, block);
    if (hlo.opcode == Opcode::kAsyncStart) return block.push_back(PlanAsyncStart(hlo));
    block.push_back(PlanInstruction(hlo, input_));
  }

  // Returns the send with the same channel as a recv-done, or null.
  PlannedAsync* SendFor(const Instruction& hlo) {
    if (hlo.opcode != Opcode::kRecvDone) return nullptr;
    for (PlannedAsync& async : plan_.asyncs)
      if (async.use != nullptr && async.use->hlo->opcode == Opcode::kSend && (*async.use->hlo)[kChannelId] == hlo[kChannelId])
        return &async;
    return nullptr;
  }

  // On a TPU, a fusion can compute while it performs a collective.
  static KernelDescriptor FusedWork(const Instruction& hlo) { return hlo.opcode == Opcode::kFusion ? DescribeKernel(hlo) : KernelDescriptor{}; }

  void AddCopy(const Instruction& start, DevicePlanBlock& block) {
    PlannedAsync& async = plan_.asyncs.emplace_back();
    async.kind = Opcode::kCopyStart;
    async.start = &start;
    async.bytes = start.operands.empty() ? 0 : DataBytes(start.operand_shape(0));
    const bool host = IsOnHost(start.shape());
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

PlannedAsync& AddCollective(const DevicePlanInput& input, const LogicalCollective& collective, Opcode kind,
                            DevicePlan& plan) {
  PlannedAsync& async = plan.asyncs.emplace_back();
  async.use = &collective;
  async.kind = kind;
  async.start = collective.start;
  if (input.origins != nullptr)
    if (auto origin = input.origins->find(async.start); origin != input.origins->end()) async.start = origin->second;
  async.place = GroupTopologyOf(*collective.participants, input.machine, input.scale_out);
  // Use the member count of the module, since scale-out does not change shapes such as the result of an all-gather.
  const int64_t members = std::max<int64_t>(1, collective.participants->group_size);
  async.bytes = BytesForTiming(kind, static_cast<double>(collective.payload_bytes), members);
  async.timing = CollectiveTime(kind, async.bytes, async.place, input.machine);
  return async;
}

DevicePlanOp PlanInstruction(const Instruction& hlo, const DevicePlanInput& input) {
  DevicePlanOp op{DevicePlanOp::Kind::kNoOp, &hlo, {}, {}, nullptr};
  const OpInfo& info = Info(hlo.opcode);
  if (CallsComputations(hlo) && hlo.opcode != Opcode::kFusion && hlo.opcode != Opcode::kCustomCall) {
    if (info.call_kind == CallKind::kLoop) op.kind = DevicePlanOp::Kind::kLoop;
    if (info.call_kind == CallKind::kBranch) op.kind = DevicePlanOp::Kind::kConditional;
    if (info.call_kind == CallKind::kOnce) op.kind = DevicePlanOp::Kind::kCall;
    if (op.kind != DevicePlanOp::Kind::kNoOp) return op;
  }
  const bool no_work = info.op_class == OpClass::kStructure || info.op_class == OpClass::kTransfer ||
                       info.op_class == OpClass::kCollective;
  if (no_work && hlo.opcode != Opcode::kInfeed && hlo.opcode != Opcode::kOutfeed) return op;
  op.kernel = DescribeKernel(hlo);
  if (hlo.opcode == Opcode::kInfeed || hlo.opcode == Opcode::kOutfeed || (IsOnHost(hlo.shape()) && hlo.opcode == Opcode::kCopy))
    op.kernel.family = KernelKind::kHostCopy;
  if (op.kernel.family == KernelKind::kNothing) return op;
  op.kind = DevicePlanOp::Kind::kKernel;
  op.inputs = InputsOf(hlo);
  (void)input;
  return op;
}

std::vector<const Computation*> RunningComputations(const DevicePlanInput& input) {
  std::vector<const Computation*> running;
  const CallGraph& calls = input.facts.executions().calls();
  for (const Computation* computation : calls.ReachableFromEntry()) {
    const auto callers = calls.CallersOf(*computation);
    const bool by_itself = computation == input.facts.module().entry ||
                           std::any_of(callers.begin(), callers.end(), [](const Instruction* caller) {
                             return caller->opcode != Opcode::kFusion && caller->opcode != Opcode::kCustomCall &&
                                    caller->opcode != Opcode::kAsyncStart && CallKindOf(*caller) != CallKind::kElements;
                           });
    if (by_itself) running.push_back(computation);
  }
  return running;
}

DevicePlan BuildDevicePlan(const DevicePlanInput& input) {
  DevicePlan plan = input.facts.module().is_scheduled ? ScheduledPlanner(input).Build() : EstimateSchedule(input);
  plan.entry = input.facts.module().entry;
  return plan;
}

}  // namespace shoal::internal
