#include "ir/call_graph.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace shoal {
namespace {

// The computations one calls, in the order of the text.
std::vector<const Computation*> CalleesOf(const Computation& computation) {
  std::vector<const Computation*> callees;
  for (const Instruction* hlo : computation.instructions)
    if (CallsComputations(*hlo))
      for (const Computation* callee : CalledComputations(*hlo))
        if (callee != nullptr) callees.push_back(callee);
  return callees;
}

// Callees first; a computation that is being visited is not entered again. A text may nest calls deeper than a stack.
std::vector<const Computation*> CalleesFirst(const Computation& entry) {
  struct Visit {
    const Computation* computation;
    std::vector<const Computation*> callees;
    size_t next = 0;
  };
  std::vector<const Computation*> order;
  absl::flat_hash_set<const Computation*> seen{&entry};
  std::vector<Visit> open;
  open.push_back({&entry, CalleesOf(entry)});
  while (!open.empty()) {
    Visit& visit = open.back();
    if (visit.next == visit.callees.size()) {
      order.push_back(visit.computation);
      open.pop_back();
      continue;
    }
    const Computation* callee = visit.callees[visit.next++];
    if (seen.insert(callee).second) open.push_back({callee, CalleesOf(*callee)});
  }
  return order;
}

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
  from_entry_ = CalleesFirst(*module.entry);
  std::reverse(from_entry_.begin(), from_entry_.end());
}

std::span<const Instruction* const> CallGraph::CallersOf(const Computation& computation) const {
  auto found = callers_.find(&computation);
  if (found == callers_.end()) return {};
  return found->second;
}

}  // namespace shoal
