#include <algorithm>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "core/ir/sizes.h"
#include "core/ops/backend.h"
#include "core/ops/contraction.h"
#include "core/ops/families.h"
#include "core/ops/op_cost.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

double BytesOfOp(const Instruction& hlo) {
  double bytes = LeafBytesOf(hlo.shape());
  for (const Instruction* operand : hlo.operands) bytes += LeafBytesOf(operand->shape());
  return bytes;
}

// Multiplications and additions of a contraction.
double DotFlops(const Instruction& hlo) {
  if (Info(hlo.opcode).op_class != OpClass::kContraction || hlo.operand_count() < 2) return 0;
  auto elements = [](const Shape& shape) { return static_cast<double>(ElementCountOf(shape)); };
  const double result = elements(hlo.shape());
  return result == 0 ? 0 : 2 * result * ContractedSize(elements(hlo.operand_shape(0)), elements(hlo.operand_shape(1)), result);
}

bool IsStart(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class != OpClass::kCollective && op_class != OpClass::kTransfer) return false;
  return IsAsyncStart(hlo);
}

struct Node {
  Instruction* hlo = nullptr;
  std::vector<size_t> before, after;
  double seconds = 0;  // duration of the kernel; for a start, duration of the transfer
  bool starts = false, waits_for_start = false;
  double to_end = 0, ends = 0;
  size_t pending_operands = 0;
};

class LatencyHidingOrder {
 public:
  LatencyHidingOrder(const Computation& computation, const DeviceRates& device) : device_(device) {
    absl::flat_hash_map<const Instruction*, size_t> at;
    for (Instruction* hlo : computation.instructions) {
      Node node;
      node.hlo = hlo;
      node.starts = IsStart(*hlo);
      node.seconds = SecondsOf(*hlo, node.starts);
      auto need = [&](const Instruction* before) {
        if (auto found = at.find(before); found != at.end()) node.before.push_back(found->second);
      };
      for (const Instruction* operand : hlo->operands) need(operand);
      for (const Instruction* before : (*hlo)[kControlPredecessors]) need(before);
      std::sort(node.before.begin(), node.before.end());
      node.before.erase(std::unique(node.before.begin(), node.before.end()), node.before.end());
      for (size_t before : node.before) {
        nodes_[before].after.push_back(nodes_.size());
        node.waits_for_start |= nodes_[before].starts;
      }
      node.pending_operands = node.before.size();
      at[hlo] = nodes_.size();
      nodes_.push_back(std::move(node));
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
      for (size_t after : nodes_[i].after) nodes_[i].to_end = std::max(nodes_[i].to_end, nodes_[after].to_end);
      nodes_[i].to_end += nodes_[i].seconds;
    }
  }

  // List scheduling that prefers the longest remaining path. Starts run as early as possible. An instruction that waits
  // for a start runs once the transfer is done, or when no other instruction is ready.
  std::vector<Instruction*> Order() {
    auto sooner = [&](size_t a, size_t b) {
      return nodes_[a].to_end != nodes_[b].to_end ? nodes_[a].to_end > nodes_[b].to_end : a < b;
    };
    std::set<size_t, decltype(sooner)> ready(sooner);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].pending_operands == 0) ready.insert(i);
    std::vector<Instruction*> order;
    double now = 0, link_free = 0;
    while (!ready.empty()) {
      const auto chosen = Choose(ready, now);
      Node& node = nodes_[*chosen];
      ready.erase(chosen);
      now = std::max(now, ReadyAt(node));
      if (node.starts) {
        node.ends = link_free = std::max(now, link_free) + node.seconds;
      } else {
        now += node.seconds;
      }
      order.push_back(node.hlo);
      for (size_t after : node.after)
        if (--nodes_[after].pending_operands == 0) ready.insert(after);
    }
    return order;
  }

 private:
  double SecondsOf(const Instruction& hlo, bool starts) const {
    const OpClass op_class = Info(hlo.opcode).op_class;
    if (starts) return device_.link_latency + BytesOfOp(hlo) / device_.link_bytes_per_second;
    if (op_class == OpClass::kStructure || op_class == OpClass::kTransfer || IsBitcast(hlo)) return 0;
    if (op_class == OpClass::kCollective) return hlo.operand_count() == 1 && IsStart(*hlo.operands[0]) ? 0 : device_.link_latency;
    return std::max(BytesOfOp(hlo) / device_.bytes_per_second, DotFlops(hlo) / device_.flops_per_second);
  }

  double ReadyAt(const Node& node) const {
    double at = 0;
    for (size_t before : node.before) at = std::max(at, nodes_[before].ends);
    return at;
  }

  template <class Ready>
  typename Ready::iterator Choose(Ready& ready, double now) const {
    for (auto it = ready.begin(); it != ready.end(); ++it)
      if (nodes_[*it].starts) return it;
    auto best = ready.end();
    double earliest = 0;
    for (auto it = ready.begin(); it != ready.end(); ++it) {
      const double at = nodes_[*it].waits_for_start ? ReadyAt(nodes_[*it]) : 0;
      if (at <= now) return it;
      if (best == ready.end() || at < earliest) best = it, earliest = at;
    }
    return best;
  }

  const DeviceRates& device_;
  std::vector<Node> nodes_;
};

}  // namespace

Result<bool> ScheduleLatencyHiding(Module& module, const PassContext& context) {
  if (module.is_scheduled) return false;
  for (Computation* computation : module.computations)
    if (computation->root != nullptr) SetOrder(*computation, LatencyHidingOrder(*computation, context.device).Order());
  module.is_scheduled = true;
  std::vector<FrontendAttribute> attributes(module.frontend_attributes.begin(), module.frontend_attributes.end());
  attributes.push_back({kScheduledForAttribute, ToString(Backend::kGpu)});
  module.frontend_attributes = module.arena.Copy(std::span<const FrontendAttribute>(attributes));
  return true;
}

}  // namespace shoal::internal
