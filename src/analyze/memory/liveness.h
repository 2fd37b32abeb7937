// Last uses, dead instructions and loop-invariant instructions of each computation. Used by both execution and the dry
// run of memory.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// An instruction that is not dead: its value is used, or it has a side effect.
struct InstructionLiveness {
  const Instruction* hlo = nullptr;
  // last_use[i]: operand i has its last use here.
  std::vector<bool> last_use;
  // True for a get-tuple-element that may move the element out of the tuple, since the element has no later use.
  bool takes_element = false;
  // is_invariant: depends on no parameter, so its value is constant. is_kept: it is also used by an instruction that is
  // not invariant.
  bool is_invariant = false, is_kept = false;
};

struct ComputationLiveness {
  std::vector<InstructionLiveness> steps;  // in text order
  // The computation runs in a loop, and some of its steps are invariant with values small enough to keep.
  bool keeps_invariants = false;
  // The result depends only on the arguments: no random numbers, no communication with other devices or the host.
  bool is_deterministic = false;
};

class Liveness {
 public:
  explicit Liveness(const Module& module);

  const ComputationLiveness& Of(const Computation& computation) const { return *steps_.at(&computation); }
  bool IsDeterministic(const Instruction& hlo) const;
  bool IsDeterministic(const Computation& computation) const { return Of(computation).is_deterministic; }
  // True for a start whose only user is its done. The operands in its tuple need not be kept.
  bool IsUsedOnlyByDone(const Instruction& start) const { return used_only_by_done_.contains(&start); }

 private:
  void Add(const Computation& computation);
  void AddStarts(const Computation& computation);
  void MarkInvariants(const Computation& computation, ComputationLiveness& live);

  std::unordered_map<const Computation*, std::unique_ptr<ComputationLiveness>> steps_;
  std::unordered_set<const Instruction*> used_only_by_done_;
};

}  // namespace shoal::internal
