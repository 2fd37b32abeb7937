// The callers of each computation.
#pragma once

#include <span>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

class CallGraph {
 public:
  explicit CallGraph(const Module& module);

  // The instructions that call the computation, in the order of the text.
  std::span<const Instruction* const> CallersOf(const Computation& computation) const;
  // The computations reachable from the entry computation, callers before callees. Calls that close a cycle are
  // ignored.
  const std::vector<const Computation*>& ReachableFromEntry() const { return reachable_; }

 private:
  struct Callee {
    const Computation* computation = nullptr;
    uint32_t first = 0;  // of its callers, which end at those of the next callee
  };
  std::vector<Callee> callees_;  // in the order of their addresses
  std::vector<const Instruction*> callers_;
  std::vector<const Computation*> reachable_;
};

// All defined computations, callees before callers. (PostOrder of a module is XLA's order, in which a computation with
// two callers may come after one of them.)
std::vector<Computation*> CalleesFirst(const Module& module);

}  // namespace shoal::internal
