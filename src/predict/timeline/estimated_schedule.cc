#include "predict/timeline/estimated_schedule.h"

#include <algorithm>
#include <set>

#include "analyze/cost/kernel_time.h"
#include "analyze/cost/kernel_traffic.h"
#include "analyze/cost/estimated_fusion.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// A node of the schedule: an instruction together with the instructions inlined into it.
struct Node {
  const Instruction* hlo = nullptr;
  DevicePlanOp op;
  double seconds = 0;
  PlannedAsync* async = nullptr;  // set if the node runs concurrently with the kernels
  std::vector<size_t> before, after;
  double to_end = 0;   // length of the longest path from the start of the node to the end of the computation
  size_t pending = 0;  // number of unscheduled predecessors
  double ends = 0;
};

class Scheduler {
 public:
  Scheduler(const DevicePlanInput& input, DevicePlan& plan)
      : input_(input), nominal_(input.machine.nominal != nullptr ? *input.machine.nominal : input.machine), plan_(plan) {
    for (const LogicalCollective& c : input.facts.collectives().all) collective_of_[c.start] = &c, collective_of_[c.hlo] = &c;
  }

  DevicePlanBlock BlockOf(const Computation& computation, bool is_loop_body) {
    nodes_.clear();
    node_of_.clear();
    computation_ = &computation;
    const EstimatedFusion fusion(computation);
    const std::vector<Instruction*> order = PostOrder(computation);
    for (const Instruction* hlo : order)
      if (!fusion.IsInlined(*hlo)) AddNode(*hlo, fusion);
    AddEdges(order, fusion);
    MergeScalarReductions();
    if (is_loop_body) MarkPipelined();
    ComputePathLengths();
    return ListSchedule();
  }

 private:
  double SecondsOf(const KernelDescriptor& kernel) const {
    return EstimateKernelTime(kernel, {0, kernel.read()}, nominal_).seconds;
  }

  // True if every user keeps only a slice, which is at most as large as one member's part.
  bool IsOnlySliced(const Instruction& hlo, int64_t members) {
    const auto users = users_.Of(hlo);
    return !users.empty() && members > 1 && std::all_of(users.begin(), users.end(), [&](const Instruction* user) {
      const Instruction* slice = user;
      if (IsFreeView(*user)) {
        const auto next = users_.Of(*user);
        slice = next.size() == 1 ? next[0] : user;
      }
      return IsDynamicSlice(*slice) &&
             ElementsOf(slice->shape()) * static_cast<double>(members) <= ElementsOf(hlo.shape()) * 1.01;
    });
  }

  void AddNode(const Instruction& hlo, const EstimatedFusion& fusion) {
    Node node;
    node.hlo = &hlo;
    if (auto found = collective_of_.find(&hlo); found != collective_of_.end() && found->second->start == &hlo) {
      const LogicalCollective& collective = *found->second;
      const bool only_sliced = IsAllReduceKind(collective.kind) && IsOnlySliced(hlo, collective.participants->group_size);
      node.async = &AddCollective(input_, collective, only_sliced ? ScatteringKind(collective.kind) : collective.kind, plan_);
      node.op = {DevicePlanOp::Kind::kStart, &hlo, {}, {}, node.async};
      node.seconds = &nominal_ == &input_.machine
                         ? node.async->timing.seconds
                         : CollectiveTime(node.async->kind, node.async->bytes, node.async->place, nominal_).seconds;
    } else {
      node.op = PlanInstruction(hlo, input_);
      const FusionRegion region = fusion.RegionOf(hlo);
      if (region.body.size() > 1 && node.op.kind == DevicePlanOp::Kind::kKernel) {
        node.op.kernel = DescribeKernel(region);
        node.op.inputs = region.inputs;
      }
      if (node.op.kind == DevicePlanOp::Kind::kKernel) node.seconds = SecondsOf(node.op.kernel);
      if (node.op.kind == DevicePlanOp::Kind::kLoop || node.op.kind == DevicePlanOp::Kind::kCall) node.seconds = 1e-3;
    }
    node_of_[&hlo] = nodes_.size();
    nodes_.push_back(std::move(node));
  }

  // Adds edges from the operands of each node, traced through inlined instructions.
  void AddEdges(const std::vector<Instruction*>& order, const EstimatedFusion& fusion) {
    absl::flat_hash_map<const Instruction*, std::set<size_t>> needs;
    for (const Instruction* hlo : order) {
      std::set<size_t> predecessors;
      auto add = [&](const Instruction* operand) {
        if (auto at = node_of_.find(operand); at != node_of_.end()) {
          predecessors.insert(at->second);
        } else if (auto inlined = needs.find(operand); inlined != needs.end()) {
          predecessors.insert(inlined->second.begin(), inlined->second.end());
        }
      };
      for (const Instruction* operand : hlo->operands) add(operand);
      for (const Instruction* operand : (*hlo)[kControlPredecessors]) add(operand);
      if (fusion.IsInlined(*hlo)) {
        needs[hlo] = std::move(predecessors);
        continue;
      }
      const size_t at = node_of_.at(hlo);
      for (size_t before : predecessors) {
        if (before == at) continue;
        nodes_[at].before.push_back(before);
        nodes_[before].after.push_back(at);
      }
    }
  }

  // Assumes that a reduction to a scalar is fused with another kernel that reads the same value.
  void MergeScalarReductions() {
    absl::flat_hash_map<const Instruction*, int> readers;
    for (const Node& node : nodes_)
      if (node.op.kind == DevicePlanOp::Kind::kKernel && !node.op.kernel.product)
        for (const Instruction* input : node.op.inputs) ++readers[input];
    for (Node& node : nodes_) {
      if (node.op.kind != DevicePlanOp::Kind::kKernel || !IsReduce(*node.hlo) || ElementsOf(node.hlo->shape()) > 1)
        continue;
      KernelDescriptor& kernel = node.op.kernel;
      for (size_t i = 0; i < node.op.inputs.size() && i < kernel.reads.size(); ++i)
        if (readers[node.op.inputs[i]] > 1) kernel.reads[i] = 0;
      node.seconds = SecondsOf(kernel);
    }
  }

  static bool IsHeavy(const Node& node) {
    const KernelKind family = node.op.kernel.family;
    return node.op.kind == DevicePlanOp::Kind::kLoop || node.op.kind == DevicePlanOp::Kind::kCall ||
           node.op.kind == DevicePlanOp::Kind::kConditional || family == KernelKind::kGemm ||
           family == KernelKind::kConvolution || family == KernelKind::kAttention || family == KernelKind::kUnknownCall;
  }

  // Marks collectives that no heavy op precedes or no heavy op follows. These can overlap with other iterations.
  void MarkPipelined() {
    std::vector<bool> is_late(nodes_.size(), false), heavy_after(nodes_.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t before : nodes_[i].before) is_late[i] = is_late[i] || is_late[before] || nodes_[before].async != nullptr;
      if (nodes_[i].async != nullptr && !is_late[i]) nodes_[i].async->starts_in_previous_iteration = true;
      is_late[i] = is_late[i] || IsHeavy(nodes_[i]);
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
      for (size_t after : nodes_[i].after) heavy_after[i] = heavy_after[i] || heavy_after[after] || IsHeavy(nodes_[after]);
      if (nodes_[i].async != nullptr && !heavy_after[i] && !nodes_[i].async->starts_in_previous_iteration)
        nodes_[i].async->ends_after_loop = true;
    }
  }

  void ComputePathLengths() {
    for (size_t i = nodes_.size(); i-- > 0;) {
      double longest = 0;
      for (size_t after : nodes_[i].after) longest = std::max(longest, nodes_[after].to_end);
      nodes_[i].to_end = longest + nodes_[i].seconds;
      nodes_[i].pending = nodes_[i].before.size();
    }
  }

  // List scheduling. Nodes with the longest path to the end come first, and async nodes start as soon as possible.
  // Kernels that would have to wait for a collective come after other ready kernels.
  DevicePlanBlock ListSchedule() {
    DevicePlanBlock block;
    auto more_urgent = [&](size_t a, size_t b) {
      return nodes_[a].to_end != nodes_[b].to_end ? nodes_[a].to_end > nodes_[b].to_end : a < b;
    };
    std::set<size_t, decltype(more_urgent)> ready(more_urgent);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].pending == 0) ready.insert(i);
    double now = 0, stream_free = 0;
    std::vector<bool> waited(nodes_.size(), false);
    auto can_run_at = [&](size_t i) {
      double at = 0;
      for (size_t before : nodes_[i].before)
        if (nodes_[before].async != nullptr && !waited[before]) at = std::max(at, nodes_[before].ends);
      return at;
    };
    while (!ready.empty()) {
      auto chosen = ready.end();
      double earliest = 0;
      for (auto it = ready.begin(); it != ready.end(); ++it) {
        const double at = nodes_[*it].async != nullptr ? 0 : can_run_at(*it);
        if (chosen != ready.end() && at >= earliest) continue;
        chosen = it, earliest = at;
        if (at <= now) break;
      }
      const size_t i = *chosen;
      ready.erase(chosen);
      Node& node = nodes_[i];
      for (size_t before : node.before)
        if (nodes_[before].async != nullptr && !waited[before] && !nodes_[before].async->ends_after_loop) {
          waited[before] = true;
          block.push_back({DevicePlanOp::Kind::kDone, nodes_[before].hlo, {}, {}, nodes_[before].async});
          now = std::max(now, nodes_[before].ends);
        }
      if (node.async != nullptr) {
        const double begin = std::max(stream_free, node.async->starts_in_previous_iteration ? 0 : now);
        node.ends = stream_free = begin + node.seconds;
      } else {
        now += node.seconds;
      }
      block.push_back(std::move(node.op));
      for (size_t after : node.after)
        if (--nodes_[after].pending == 0) ready.insert(after);
    }
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].async != nullptr && !waited[i] && !nodes_[i].async->ends_after_loop)
        block.push_back({DevicePlanOp::Kind::kDone, nodes_[i].hlo, {}, {}, nodes_[i].async});
    return block;
  }

  const DevicePlanInput& input_;
  const Machine& nominal_;  // whose rates determine the order
  DevicePlan& plan_;
  const Computation* computation_ = nullptr;
  Users users_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<const Instruction*, size_t> node_of_;
  absl::flat_hash_map<const Instruction*, const LogicalCollective*> collective_of_;
};

bool IsLoopBody(const Computation& computation, const CallGraph& calls) {
  const auto callers = calls.CallersOf(computation);
  return std::any_of(callers.begin(), callers.end(), [](const Instruction* caller) {
    return CallKindOf(*caller) == CallKind::kLoop;
  });
}

}  // namespace

DevicePlan EstimateSchedule(const DevicePlanInput& input) {
  DevicePlan plan;
  plan.is_estimated = true;
  Scheduler scheduler(input, plan);
  for (const Computation* computation : RunningComputations(input))
    plan.blocks[computation] = scheduler.BlockOf(*computation, IsLoopBody(*computation, input.facts.executions().calls()));
  return plan;
}

}  // namespace shoal::internal
