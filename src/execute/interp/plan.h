// Data that is computed once per computation before a run: the instructions, their compiled code if there is any, the
// last use of each value (analyze/memory/liveness.h), and the constants as arrays. All devices and runs share this data.
// It is read-only, except for InvariantValues.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "kernels/elementwise/lane_function.h"
#include "execute/interp/thunk.h"
#include "analyze/memory/liveness.h"
#include "core/ops/backend_config.h"
#include "core/ops/working_types.h"

namespace shoal::internal {

// A copy of an instruction that mixes float widths. Its operands and result have the types in which the instruction is
// computed (WorkingTypes).
struct TypedInstruction {
  Instruction hlo;
  std::vector<Instruction> operands;
  std::vector<Instruction*> operand_list;
  WorkingTypes types;
};

struct EvalStep : InstructionLiveness {
  std::unique_ptr<TypedInstruction> typed = nullptr;  // set if the instruction mixes float types
  Evaluator evaluate = nullptr;
  std::unique_ptr<const Thunk> thunk = nullptr;  // runs in place of `evaluate` if not null
  // True if the instruction forwards or waits for pending operands. Other instructions receive completed values.
  bool accepts_pending = false;
  bool is_fallback = false;  // computes elements without code from an engine
  ElementLoop kernel = {};  // set for elementwise ops
  std::unique_ptr<const BackendConfig> config = nullptr;  // of a custom call
};

// Values of a computation's loop-invariant instructions from its first run, for later iterations.
class InvariantValues {
 public:
  // Null until the values are stored. Element i is set if the step of instruction i is invariant.
  const std::vector<Value>* Get() const { return ready_.load(std::memory_order_acquire); }
  // Stores the values. Only the first call has an effect.
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
  // Element i is the value of instruction i if that is a constant, else a token.
  std::vector<Value> constants;
  // Set if a loop runs the computation and some of its instructions are loop-invariant.
  std::unique_ptr<InvariantValues> invariants;
  // Set if the computation is on scalars only.
  std::unique_ptr<LaneFunction> lanes;
  // True if a fusion calls the computation.
  bool is_fused = false;
  // True for a loop fusion with one result. XLA:CPU compiles such fusions unchanged, but must decompose others first.
  bool is_loop_fusion = false;
};

class ModulePlan {
 public:
  // Replaces elided literals by generated numbers that depend only on the element index. The plan and the constants
  // among the results of its runs keep the module alive.
  explicit ModulePlan(std::shared_ptr<const Module> module, Thunks thunks = {});

  const ComputationPlan& Of(const Computation& computation) const { return *plans_.at(&computation); }
  const Module& module() const { return *module_; }
  const Liveness& liveness() const { return liveness_; }

 private:
  void Add(const Computation& computation, Thunks& thunks);
  std::unique_ptr<TypedInstruction> MakeTyped(const Instruction& hlo);
  void AddFusion(const Instruction& hlo);
  Value Constant(const Literal& literal) const;

  const std::shared_ptr<const Module> module_;
  const Liveness liveness_;
  Arena arena_;
  ShapePool shapes_{arena_};  // for typed instructions
  std::unordered_map<const Computation*, std::unique_ptr<ComputationPlan>> plans_;
};

}  // namespace shoal::internal
