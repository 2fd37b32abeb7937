// The state of a while that is a tuple, which its computations take apart and put together again element by element:
// what passes over loops ask, and how they change it.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct LoopState {
  Instruction* loop = nullptr;
  Computation *body = nullptr, *condition = nullptr;
  std::vector<Instruction*> first, next;  // element i before the first round, in the caller; after each round, in the body

  size_t size() const { return next.size(); }
  // Every round hands element i on as it was.
  bool IsInvariant(size_t i) const;
};

// How many instructions call each computation.
using CallCounts = std::unordered_map<const Computation*, int>;
CallCounts CountCalls(const Module& module);

// Nothing where the loop is written otherwise, or where somebody else calls its computations too. Elements before the
// first round are made where the loop's operand is not a tuple of them.
std::optional<LoopState> LoopStateOf(Instruction& loop, const CallCounts& calls, Module& module);

// get-tuple-element number i of `tuple`.
Instruction* ElementOf(Module& module, Computation& computation, Instruction& tuple, size_t i);
// Which one a get-tuple-element takes.
size_t ElementNumber(const Instruction& hlo);

// A new loop instead of `state.loop`, whose state has the elements `kept` of the old one, in this order, and then
// `added`, values of the caller that every round hands on. What is not kept must have no use but its own next value.
// Returns the added elements as the body sees them. The old loop has no users afterwards.
std::vector<Instruction*> RewriteLoopState(Module& module, const LoopState& state, const std::vector<size_t>& kept,
                                      const std::vector<Instruction*>& added);

}  // namespace shoal::internal
