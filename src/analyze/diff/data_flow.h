// The definitions of values, traced through ops that only forward them: tuples and their elements, fusions, calls and
// async computations (in both directions), barriers, and loop-invariant state. The sources of an op do not depend on
// fusion, or on hoisting out of a loop.
#pragma once

#include "analyze/facts/instruction_ids.h"
#include "analyze/facts/known_values.h"
#include "core/ops/op.h"

namespace shoal::internal {

// The context of a computation: its only caller, and the enclosing loops and fusion. With several callers, only `kind`
// and the minimum of `loops` are known.
struct EnclosingContext {
  const Instruction* caller = nullptr;  // null if there is none, or several
  CallKind kind = CallKind::kOnce;
  int64_t number = 0;                   // index among the caller's computations
  const Instruction* loop = nullptr;    // the innermost loop
  int64_t loops = 0;                    // number of enclosing loops
  const Instruction* fusion = nullptr;  // null: not fused
};

class DataFlow {
 public:
  DataFlow(const Module& module, const CallGraph& calls, const InstructionIds& ids);

  // The definition of an instruction's value: the instruction itself, unless it forwards a value.
  const ValueRef& SourceOf(uint32_t id) const { return sources_[id]; }
  ValueRef SourceOf(ValueRef position) const;
  bool ForwardingOf(uint32_t id) const { return sources_[id].hlo != &ids_[id]; }
  const EnclosingContext& ContextOf(const Computation& computation) const;
  // True if the computation has one caller, whose value is the value of the computation's root.
  bool IsPartOfCaller(const Computation& computation) const;

  const InstructionIds& ids() const { return ids_; }

 private:
  bool Step(ValueRef& position) const;
  bool StepOut(ValueRef& position) const;
  bool StepInto(const Computation* callee, ValueRef& position) const;
  void FindContexts(const CallGraph& calls);
  void FindInvariants(const Instruction& loop);

  const InstructionIds& ids_;
  std::unordered_map<const Computation*, EnclosingContext> contexts_;
  // By while loop: for each element of its state, whether its body forwards the element unchanged.
  std::unordered_map<const Instruction*, std::vector<bool>> invariants_;
  std::vector<ValueRef> sources_;
};

}  // namespace shoal::internal
