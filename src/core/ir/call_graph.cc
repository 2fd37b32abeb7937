#include "core/ir/call_graph.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_set.h"

namespace shoal::internal {
namespace {

// The computations that `computation` calls, in the order of the text.
std::vector<Computation*> CalleesOf(const Computation& computation) {
  std::vector<Computation*> callees;
  for (const Instruction* hlo : computation.instructions)
    if (CallsComputations(*hlo))
      for (Computation* callee : CalledComputations(*hlo))
        if (callee != nullptr) callees.push_back(callee);
  return callees;
}

// Visits callees first and ignores cycles. Does not recurse, since a text may nest calls deeper than the stack allows.
class CalleesFirstWalk {
 public:
  std::vector<Computation*> order;

  void Visit(Computation& root) {
    if (!seen_.insert(&root).second) return;
    std::vector<Open> open;
    open.push_back({&root, CalleesOf(root)});
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.callees.size()) {
        order.push_back(top.computation);
        open.pop_back();
        continue;
      }
      Computation* callee = top.callees[top.next++];
      if (seen_.insert(callee).second) open.push_back({callee, CalleesOf(*callee)});
    }
  }

 private:
  struct Open {
    Computation* computation;
    std::vector<Computation*> callees;
    size_t next = 0;
  };
  absl::flat_hash_set<const Computation*> seen_;
};

}  // namespace

CallGraph::CallGraph(const Module& module) {
  std::vector<std::pair<const Computation*, const Instruction*>> calls;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) {
      if (!CallsComputations(*hlo)) continue;
      for (const Computation* callee : CalledComputations(*hlo)) {
        if (calls.empty() || calls.back() != std::pair(callee, hlo)) calls.emplace_back(callee, hlo);
      }
    }
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return std::less<>()(a.first, b.first); });
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  callers_.reserve(calls.size());
  for (const auto& [callee, caller] : calls) {
    if (callees_.empty() || callees_.back().computation != callee)
      callees_.push_back({callee, static_cast<uint32_t>(callers_.size())});
    callers_.push_back(caller);
  }
  if (module.entry == nullptr) return;
  CalleesFirstWalk walk;
  walk.Visit(*module.entry);
  reachable_.assign(walk.order.rbegin(), walk.order.rend());
}

std::span<const Instruction* const> CallGraph::CallersOf(const Computation& computation) const {
  const auto found = std::lower_bound(callees_.begin(), callees_.end(), &computation, [](const Callee& a, const Computation* b) {
    return std::less<>()(a.computation, b);
  });
  if (found == callees_.end() || found->computation != &computation) return {};
  const size_t end = found + 1 == callees_.end() ? callers_.size() : found[1].first;
  return std::span(callers_).subspan(found->first, end - found->first);
}

std::vector<Computation*> CalleesFirst(const Module& module) {
  CalleesFirstWalk walk;
  for (Computation* computation : module.computations) walk.Visit(*computation);
  std::erase_if(walk.order, [](const Computation* computation) { return !computation->defined; });
  return std::move(walk.order);
}

}  // namespace shoal::internal
