#include "core/ir/call_graph.h"

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
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) {
      if (!CallsComputations(*hlo)) continue;
      for (const Computation* callee : CalledComputations(*hlo)) {
        std::vector<const Instruction*>& callers = callers_[callee];
        if (callers.empty() || callers.back() != hlo) callers.push_back(hlo);
      }
    }
  if (module.entry == nullptr) return;
  CalleesFirstWalk walk;
  walk.Visit(*module.entry);
  reachable_.assign(walk.order.rbegin(), walk.order.rend());
}

std::span<const Instruction* const> CallGraph::CallersOf(const Computation& computation) const {
  auto found = callers_.find(&computation);
  if (found == callers_.end()) return {};
  return found->second;
}

std::vector<Computation*> CalleesFirst(const Module& module) {
  CalleesFirstWalk walk;
  for (Computation* computation : module.computations) walk.Visit(*computation);
  std::erase_if(walk.order, [](const Computation* computation) { return !computation->defined; });
  return std::move(walk.order);
}

}  // namespace shoal::internal
