// Who calls a computation.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

class CallGraph {
 public:
  explicit CallGraph(const Module& module);

  // The instructions that name the computation, in the order of the text.
  std::span<const Instruction* const> CallersOf(const Computation& computation) const;
  // Callers before callees, from the entry computation on; what it does not lead to is left out, and so is what would
  // close a circle.
  const std::vector<const Computation*>& ReachableFromEntry() const { return from_entry_; }

 private:
  absl::flat_hash_map<const Computation*, std::vector<const Instruction*>> callers_;
  std::vector<const Computation*> from_entry_;
};

// All computations that are defined, callees before callers. (PostOrder of a module is XLA's order, in which a computation
// that two call may come after one of them.)
std::vector<Computation*> CalleesFirst(const Module& module);

}  // namespace shoal::internal
