// Where values are made, seen through what only hands them on: tuples and their elements, fusions, calls and async
// wrappers (from inside to outside and back), barriers, and loop state that no round changes. An op has the same
// sources whether it is fused or not, in a loop or before it.
#pragma once

#include "analyze/facts/instruction_ids.h"
#include "analyze/facts/known_values.h"
#include "core/ops/op.h"

namespace shoal::internal {

// Where a computation runs: its one caller, and what encloses it. Of what several call, only the number of loops is
// known, as the fewest.
struct EnclosingContext {
  const Instruction* caller = nullptr;  // null: none, or several
  CallKind kind = CallKind::kOnce;
  int64_t number = 0;                   // among the caller's computations
  const Instruction* loop = nullptr;    // the innermost
  int64_t loops = 0;                    // how many
  const Instruction* fusion = nullptr;  // null: not fused
};

class DataFlow {
 public:
  DataFlow(const Module& module, const CallGraph& calls, const InstructionIds& ids);

  // The instruction itself, if it makes its value.
  const ValueRef& SourceOf(uint32_t id) const { return sources_[id]; }
  ValueRef SourceOf(ValueRef place) const;
  bool ForwardingOf(uint32_t id) const { return sources_[id].hlo != &ids_[id]; }
  const EnclosingContext& ContextOf(const Computation& computation) const;
  // The value of its one caller is its root's.
  bool IsPartOfCaller(const Computation& computation) const;

  const InstructionIds& ids() const { return ids_; }

 private:
  bool Step(ValueRef& place) const;
  bool StepOut(ValueRef& place) const;
  bool StepInto(const Computation* callee, ValueRef& place) const;
  void FindSurroundings(const CallGraph& calls);
  void FindInvariants(const Instruction& loop);

  const InstructionIds& ids_;
  std::unordered_map<const Computation*, EnclosingContext> around_;
  // Of each while: elements of its state that its body hands on unchanged.
  std::unordered_map<const Instruction*, std::vector<bool>> invariants_;
  std::vector<ValueRef> sources_;
};

}  // namespace shoal::internal
