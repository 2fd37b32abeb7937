// What can be worked out about a computation before it runs: which instructions, where each value is used for the last
// time (analyze/memory/liveness.h), its constants as arrays. Made once for all devices, and then only read.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "kernels/elementwise/lane_function.h"
#include "execute/interp/evaluate.h"
#include "analyze/memory/liveness.h"
#include "core/ops/working_types.h"

namespace shoal::internal {

// An instruction that mixes floats of several widths, as it is computed: a copy of it whose operands and result have the
// types of WorkingTypes.
struct TypedInstruction {
  Instruction hlo;
  std::vector<Instruction> operands;
  std::vector<Instruction*> operand_list;
  WorkingTypes types;
};

struct EvalStep : InstructionLiveness {
  std::unique_ptr<TypedInstruction> typed = nullptr;  // where the instruction mixes types
  Evaluator evaluate = nullptr;
  // It hands on or waits for what is under way; others get what has arrived.
  bool takes_under_way = false;
  ElementLoop kernel = {};  // of an elementwise op
};

// What the invariant steps of a computation gave when it first ran, for the rounds of a loop that follow.
class InvariantValues {
 public:
  // Null as long as nobody has kept any. Of instruction number i where the step is kept.
  const std::vector<Value>* Get() const { return ready_.load(std::memory_order_acquire); }
  // The first to come is the one that counts.
  void Keep(std::vector<Value> values) {
    std::lock_guard lock(mutex_);
    if (ready_.load(std::memory_order_relaxed) != nullptr) return;
    values_ = std::move(values);
    ready_.store(&values_, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::vector<Value> values_;
  std::atomic<const std::vector<Value>*> ready_ = nullptr;
};

struct ComputationPlan {
  std::vector<EvalStep> steps;
  // Of instruction number i where it is a constant; else a token.
  std::vector<Value> constants;
  // Set where a loop runs the computation and some of its steps are invariant.
  std::unique_ptr<InvariantValues> invariants;
  // Set where the computation is one of scalars only.
  std::unique_ptr<LaneFunction> lanes;
  // A fusion calls it.
  bool is_fused = false;
  // It is a loop fusion with one result. XLA:CPU compiles those as they are; others it has to take apart first.
  bool is_loop_fusion = false;
};

// Instructions that mix floats of several types.
struct MixedFloats {
  int64_t count = 0;
  const Instruction* first = nullptr;
};

struct ElidedLiterals {
  int64_t count = 0;  // that were filled
  const Instruction* first = nullptr;
};

class ModulePlan {
 public:
  // Elided literals are filled with numbers that depend on their place alone.
  explicit ModulePlan(const Module& module);

  const ComputationPlan& Of(const Computation& computation) const { return *plans_.at(&computation); }
  const Module& module() const { return module_; }
  const Liveness& liveness() const { return liveness_; }
  const ElidedLiterals& elided() const { return elided_; }
  const MixedFloats& mixed() const { return mixed_; }

 private:
  void Add(const Computation& computation);
  std::unique_ptr<TypedInstruction> Typed(const Instruction& hlo);
  void AddFusion(const Instruction& hlo);
  Value Constant(const Instruction& hlo, const Literal& literal);

  const Module& module_;
  const Liveness liveness_;
  Arena arena_;
  ShapePool shapes_{arena_};  // of typed instructions
  ElidedLiterals elided_;
  MixedFloats mixed_;
  std::unordered_map<const Computation*, std::unique_ptr<ComputationPlan>> plans_;
};

}  // namespace shoal::internal
