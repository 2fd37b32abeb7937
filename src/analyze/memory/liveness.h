// When each value of a computation is needed for the last time, what nobody needs, and what is the same in every round
// of a loop: one answer for whoever runs a module and for whoever says what a run of it holds.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// An instruction whose value somebody needs, or that acts on something.
struct InstructionLiveness {
  const Instruction* hlo = nullptr;
  // Which operands are used here for the last time: operand i if last_use[i].
  std::vector<bool> last_use;
  // A get-tuple-element that may take the element out of the tuple: nobody asks for that element again.
  bool takes_element = false;
  // No parameter reaches it, so that it gives the same value every time; of those, whether a step that does depend on a
  // parameter uses it.
  bool is_invariant = false, is_kept = false;
};

struct ComputationLiveness {
  std::vector<InstructionLiveness> steps;  // in the order of the text
  // A loop runs the computation, some of its steps are invariant, and what they give is small enough to be kept.
  bool keeps_invariants = false;
  // What it gives depends on its arguments alone: no random numbers, nothing of other devices or the host.
  bool is_deterministic = false;
};

class Liveness {
 public:
  explicit Liveness(const Module& module);

  const ComputationLiveness& Of(const Computation& computation) const { return *steps_.at(&computation); }
  bool IsDeterministic(const Instruction& hlo) const;
  bool IsDeterministic(const Computation& computation) const { return Of(computation).is_deterministic; }
  // A start that nobody uses but its done: what its tuple has of the operands need not be kept.
  bool IsUsedOnlyByDone(const Instruction& start) const { return only_ended_.contains(&start); }

 private:
  void Add(const Computation& computation);
  void AddStarts(const Computation& computation);
  void MarkInvariants(const Computation& computation, ComputationLiveness& live);

  std::unordered_map<const Computation*, std::unique_ptr<ComputationLiveness>> steps_;
  std::unordered_set<const Instruction*> only_ended_;
};

}  // namespace shoal::internal
