// Finds the definition of each value by tracing it back through ops that only forward it: tuples, get-tuple-elements,
// barriers and loop-invariant state. The search enters and leaves fusions, calls and async computations. Fusing an op
// or hoisting it out of a loop therefore does not change the definitions of its operands.
#pragma once

#include "analyze/facts/instruction_ids.h"
#include "analyze/facts/known_values.h"
#include "core/ops/op.h"

namespace shoal::internal {

// The context of a computation: its unique caller, and the enclosing loops and fusion. If there are several callers,
// only `kind` and `loops` are set, from a caller in the fewest loops.
struct EnclosingContext {
  const Instruction* caller = nullptr;  // null if there is no caller, or more than one
  CallKind kind = CallKind::kOnce;
  int64_t number = 0;                   // index of the computation among those that the caller calls
  const Instruction* loop = nullptr;    // the innermost enclosing loop
  int64_t loops = 0;                    // number of enclosing loops
  const Instruction* fusion = nullptr;  // null if the computation is not fused
};

class DataFlow {
 public:
  DataFlow(const Module& module, const CallGraph& calls, const InstructionIds& ids);

  // The definition of an instruction's value. This is the instruction itself, unless it only forwards a value.
  const ValueRef& SourceOf(uint32_t id) const { return sources_[id]; }
  ValueRef SourceOf(ValueRef position) const;
  bool ForwardingOf(uint32_t id) const { return sources_[id].hlo != &ids_[id]; }
  const EnclosingContext& ContextOf(const Computation& computation) const;
  // True if the computation has a unique caller and the caller returns the value of the computation's root.
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
  // For each while loop, one flag per element of its state: true if the body returns the element unchanged.
  std::unordered_map<const Instruction*, std::vector<bool>> invariants_;
  std::vector<ValueRef> sources_;
};

}  // namespace shoal::internal
