// The callers of each computation.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
  absl::flat_hash_map<const Computation*, std::vector<const Instruction*>> callers_;
  std::vector<const Computation*> reachable_;
};

// All defined computations, callees before callers. (PostOrder of a module is XLA's order, in which a computation with
// two callers may come after one of them.)
std::vector<Computation*> CalleesFirst(const Module& module);

}  // namespace shoal::internal
