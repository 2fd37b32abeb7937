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

// Something to put in order: an instruction with what is inlined into it.
struct Node {
  const Instruction* hlo = nullptr;
  DevicePlanOp step;
  double seconds = 0;
  PlannedAsync* async = nullptr;  // it runs beside the kernels
  std::vector<size_t> before, after;
  double to_end = 0;  // the longest way from its beginning to the end of the computation
  size_t waits = 0;   // for so many others, while it is being put in order
  double ends = 0;
};

class Scheduler {
 public:
  Scheduler(const DevicePlanInput& input, DevicePlan& plan) : input_(input), plan_(plan) {
    for (const LogicalCollective& use : input.collectives.all) uses_[use.start] = &use, uses_[use.hlo] = &use;
  }

  DevicePlanBlock BlockOf(const Computation& computation, bool is_loop_body) {
    nodes_.clear();
    node_of_.clear();
    computation_ = &computation;
    const EstimatedFusion fusion(computation);
    const std::vector<Instruction*> order = PostOrder(computation);
    for (const Instruction* hlo : order)
      if (!fusion.IsInlined(*hlo)) AddNode(*hlo, fusion);
    Link(order, fusion);
    RideAlong();
    if (is_loop_body) MarkPipelined();
    Measure();
    return List();
  }

 private:
  double CostNow(const KernelDescriptor& kernel) const {
    return EstimateKernelTime(kernel, {0, kernel.read()}, input_.machine).seconds;
  }

  // All users keep a slice as large as a member's part of it.
  bool IsKeptInParts(const Instruction& hlo, int64_t members) {
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
    if (auto found = uses_.find(&hlo); found != uses_.end() && found->second->start == &hlo) {
      const LogicalCollective& use = *found->second;
      const bool in_parts = IsAllReduceKind(use.kind) && IsKeptInParts(hlo, use.participants->group_size);
      node.async = &AddCollective(input_, use, in_parts ? ScatteringKind(use.kind) : use.kind, plan_);
      node.step = {DevicePlanOp::Kind::kStart, &hlo, {}, {}, node.async};
      node.seconds = node.async->timing.seconds;
    } else {
      node.step = StepFor(hlo, input_);
      const FusionRegion view = fusion.KernelAt(hlo);
      if (view.body.size() > 1 && node.step.kind == DevicePlanOp::Kind::kKernel) {
        node.step.kernel = DescribeKernel(view);
        node.step.inputs = view.inputs;
      }
      if (node.step.kind == DevicePlanOp::Kind::kKernel) node.seconds = CostNow(node.step.kernel);
      if (node.step.kind == DevicePlanOp::Kind::kLoop || node.step.kind == DevicePlanOp::Kind::kCall) node.seconds = 1e-3;
    }
    node_of_[&hlo] = nodes_.size();
    nodes_.push_back(std::move(node));
  }

  // Edges from what a node needs, through what is inlined.
  void Link(const std::vector<Instruction*>& order, const EstimatedFusion& fusion) {
    absl::flat_hash_map<const Instruction*, std::set<size_t>> needs;
    for (const Instruction* hlo : order) {
      std::set<size_t> mine;
      auto take = [&](const Instruction* operand) {
        if (auto at = node_of_.find(operand); at != node_of_.end()) {
          mine.insert(at->second);
        } else if (auto through = needs.find(operand); through != needs.end()) {
          mine.insert(through->second.begin(), through->second.end());
        }
      };
      for (const Instruction* operand : hlo->operands) take(operand);
      for (const Instruction* operand : (*hlo)[kControlPredecessors]) take(operand);
      if (fusion.IsInlined(*hlo)) {
        needs[hlo] = std::move(mine);
        continue;
      }
      const size_t at = node_of_.at(hlo);
      for (size_t before : mine) {
        if (before == at) continue;
        nodes_[at].before.push_back(before);
        nodes_[before].after.push_back(at);
      }
    }
  }

  // A sum over all of a value goes with another kernel that reads the value: they become one with two results.
  void RideAlong() {
    absl::flat_hash_map<const Instruction*, int> readers;
    for (const Node& node : nodes_)
      if (node.step.kind == DevicePlanOp::Kind::kKernel && !node.step.kernel.product)
        for (const Instruction* input : node.step.inputs) ++readers[input];
    for (Node& node : nodes_) {
      if (node.step.kind != DevicePlanOp::Kind::kKernel || !IsReduce(*node.hlo) || ElementsOf(node.hlo->shape()) > 1)
        continue;
      KernelDescriptor& kernel = node.step.kernel;
      for (size_t i = 0; i < node.step.inputs.size() && i < kernel.reads.size(); ++i)
        if (readers[node.step.inputs[i]] > 1) kernel.reads[i] = 0;
      node.seconds = CostNow(kernel);
    }
  }

  static bool IsHeavy(const Node& node) {
    const KernelKind family = node.step.kernel.family;
    return node.step.kind == DevicePlanOp::Kind::kLoop || node.step.kind == DevicePlanOp::Kind::kCall ||
           node.step.kind == DevicePlanOp::Kind::kConditional || family == KernelKind::kGemm ||
           family == KernelKind::kConvolution || family == KernelKind::kAttention || family == KernelKind::kUnknownCall;
  }

  // A collective that comes from the loop's state by nothing heavy, or goes nowhere else.
  void MarkPipelined() {
    std::vector<bool> fresh(nodes_.size(), false), heavy_after(nodes_.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t before : nodes_[i].before) fresh[i] = fresh[i] || fresh[before] || nodes_[before].async != nullptr;
      if (nodes_[i].async != nullptr && !fresh[i]) nodes_[i].async->from_last_round = true;
      fresh[i] = fresh[i] || IsHeavy(nodes_[i]);
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
      for (size_t after : nodes_[i].after) heavy_after[i] = heavy_after[i] || heavy_after[after] || IsHeavy(nodes_[after]);
      if (nodes_[i].async != nullptr && !heavy_after[i] && !nodes_[i].async->from_last_round)
        nodes_[i].async->until_loop_end = true;
    }
  }

  void Measure() {
    for (size_t i = nodes_.size(); i-- > 0;) {
      double longest = 0;
      for (size_t after : nodes_[i].after) longest = std::max(longest, nodes_[after].to_end);
      nodes_[i].to_end = longest + nodes_[i].seconds;
      nodes_[i].waits = nodes_[i].before.size();
    }
  }

  // A list schedule: what is furthest from the end goes first; what runs beside begins as soon as it can. Kernels that
  // would have to wait for a collective come after those that need not.
  DevicePlanBlock List() {
    DevicePlanBlock block;
    auto later = [&](size_t a, size_t b) {
      return nodes_[a].to_end != nodes_[b].to_end ? nodes_[a].to_end > nodes_[b].to_end : a < b;
    };
    std::set<size_t, decltype(later)> ready(later);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].waits == 0) ready.insert(i);
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
      double least = 0;
      for (auto it = ready.begin(); it != ready.end(); ++it) {
        const double at = nodes_[*it].async != nullptr ? 0 : can_run_at(*it);
        if (chosen != ready.end() && at >= least) continue;
        chosen = it, least = at;
        if (at <= now) break;
      }
      const size_t i = *chosen;
      ready.erase(chosen);
      Node& node = nodes_[i];
      for (size_t before : node.before)
        if (nodes_[before].async != nullptr && !waited[before] && !nodes_[before].async->until_loop_end) {
          waited[before] = true;
          block.push_back({DevicePlanOp::Kind::kDone, nodes_[before].hlo, {}, {}, nodes_[before].async});
          now = std::max(now, nodes_[before].ends);
        }
      if (node.async != nullptr) {
        const double begin = std::max(stream_free, node.async->from_last_round ? 0 : now);
        node.ends = stream_free = begin + node.seconds;
      } else {
        now += node.seconds;
      }
      block.push_back(std::move(node.step));
      for (size_t after : node.after)
        if (--nodes_[after].waits == 0) ready.insert(after);
    }
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].async != nullptr && !waited[i] && !nodes_[i].async->until_loop_end)
        block.push_back({DevicePlanOp::Kind::kDone, nodes_[i].hlo, {}, {}, nodes_[i].async});
    return block;
  }

  const DevicePlanInput& input_;
  DevicePlan& plan_;
  const Computation* computation_ = nullptr;
  Users users_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<const Instruction*, size_t> node_of_;
  absl::flat_hash_map<const Instruction*, const LogicalCollective*> uses_;
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
  plan.ours = true;
  Scheduler scheduler(input, plan);
  for (const Computation* computation : RunningComputations(input))
    plan.blocks[computation] = scheduler.BlockOf(*computation, IsLoopBody(*computation, input.executions.calls()));
  return plan;
}

}  // namespace shoal::internal
