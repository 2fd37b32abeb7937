// Finds the last uses, dead instructions and loop-invariant instructions of each computation, for execution and for the
// dry run of memory.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// An instruction that is not dead: its value is used, or the instruction has a side effect.
struct InstructionLiveness {
  const Instruction* hlo = nullptr;
  // last_use[i] is true if this is the last use of operand i.
  std::vector<bool> last_use;
  // True for a get-tuple-element that may move its element out of the tuple, because the element has no later use.
  bool takes_element = false;
  // `is_invariant` is true if the instruction depends on no parameter and so has a constant value. `is_kept` is true if
  // the value is also used by an instruction that is not invariant, or returned.
  bool is_invariant = false, is_kept = false;
};

struct ComputationLiveness {
  std::vector<InstructionLiveness> steps;  // in text order
  // True if the computation runs in a loop and has invariant steps, all with values that are small enough to keep.
  bool keeps_invariants = false;
  // True if the result depends only on the arguments, not on random numbers, other devices or the host.
  bool is_deterministic = false;
};

class Liveness {
 public:
  explicit Liveness(const Module& module);

  const ComputationLiveness& Of(const Computation& computation) const { return *steps_.at(&computation); }
  bool IsDeterministic(const Instruction& hlo) const;
  bool IsDeterministic(const Computation& computation) const { return Of(computation).is_deterministic; }
  // True for a start whose only user is its done. Execution need not keep the operands in the start's result tuple.
  bool IsUsedOnlyByDone(const Instruction& start) const { return used_only_by_done_.contains(&start); }

 private:
  void Add(const Computation& computation);
  void AddStarts(const Computation& computation);
  void MarkInvariants(const Computation& computation, ComputationLiveness& live);

  std::unordered_map<const Computation*, std::unique_ptr<ComputationLiveness>> steps_;
  std::unordered_set<const Instruction*> used_only_by_done_;
};

}  // namespace shoal::internal
