// LoopState: the state tuple of a while loop whose computations unpack and rebuild the tuple element by element. Loop
// passes use it to inspect and rewrite loops.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct LoopState {
  Instruction* loop = nullptr;
  Computation *body = nullptr, *condition = nullptr;
  std::vector<Instruction*> first, next;  // by element: the initial value in the caller, the next value in the body

  size_t size() const { return next.size(); }
  // True if each iteration forwards element i unchanged.
  bool IsInvariant(size_t i) const;
};

using CallCounts = std::unordered_map<const Computation*, int>;
CallCounts CountCalls(const Module& module);

// Returns nullopt if the loop has another form or if its computations have other callers. If the loop's operand is not
// a tuple instruction, creates get-tuple-elements for the initial values.
std::optional<LoopState> LoopStateOf(Instruction& loop, const CallCounts& calls, Module& module);

// Returns element i of `tuple`: the operand of a tuple instruction, else a new get-tuple-element.
Instruction* ElementOf(Module& module, Computation& computation, Instruction& tuple, size_t i);
// The tuple index of a get-tuple-element.
size_t ElementNumber(const Instruction& hlo);

// Replaces `state.loop` by a new loop whose state is the elements `kept` of the old state, in this order, followed by
// `added`, which are loop-invariant values of the caller. Elements that are not kept must be used only by their own
// next value. Returns the instructions for the added elements in the body. The old loop has no users afterwards.
std::vector<Instruction*> RewriteLoopState(Module& module, const LoopState& state, const std::vector<size_t>& kept,
                                      const std::vector<Instruction*>& added);

}  // namespace shoal::internal
