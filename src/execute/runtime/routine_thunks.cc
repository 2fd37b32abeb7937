// Runs a whole loop as a routine: one compiled function, or a sequence.
#include <algorithm>
#include <utility>

#include "execute/interp/step_log.h"
#include "execute/runtime/loop_function.h"
#include "execute/runtime/sequence.h"
#include "execute/runtime/thunks.h"
#include "kernels/arrays/parallel_copy.h"

namespace shoal::internal {
namespace {

class LoopThunk : public Thunk {
 public:
  explicit LoopThunk(const Routine& routine) : routine_(routine) {}

  Result<Value> Run(Call& call) const override {
    const RunSettings& settings = call.device.settings();
    std::vector<Value> leaves;
    AppendLeaves(call.operands[0], leaves);
    // Evaluates step by step if values are observed or instructions are counted.
    const bool fits = leaves.size() == routine_.state_slots && FitSlots(routine_, leaves) && IsPlanned(call.device.plans());
    if (ValueObserverOf(settings) != nullptr || settings.max_instructions > 0 || !fits)
      return EvaluatorOf(call.hlo.opcode)(call);
    leaves.clear();
    std::vector<Array> state;
    TakeLeaves(std::move(call.operands[0]), state);
    std::vector<void*> slots;
    for (size_t i = 0; i < state.size(); ++i) {
      if (routine_.written[i]) state[i] = MakeUnique(std::move(state[i]), call.device.pool());
      const std::byte* data = routine_.written[i] ? state[i].mutable_data() : std::as_const(state[i]).data();
      slots.push_back(const_cast<std::byte*>(data));
    }
    SHOAL_TRY(RunLoop(call.device, slots));
    size_t next = 0;
    leaves.assign(std::make_move_iterator(state.begin()), std::make_move_iterator(state.end()));
    return FromLeaves(call.hlo.shape(), leaves, next);
  }

 protected:
  // False if an instruction that the routine evaluates has no step, because its value is unused.
  virtual bool IsPlanned(const ModulePlan& plans) const = 0;
  // Runs the loop on its state.
  virtual Status RunLoop(Device& device, std::vector<void*>& state) const = 0;

  const Routine& routine_;
};

class LoopFunctionThunk : public LoopThunk {
 public:
  LoopFunctionThunk(const Routine& routine, LoadedFunction function) : LoopThunk(routine), function_(std::move(function)) {}

 private:
  bool IsPlanned(const ModulePlan& plans) const override {
    return StepsOf(plans, routine_.evaluated).size() == routine_.evaluated.size();
  }

  Status RunLoop(Device& device, std::vector<void*>& slots) const override {
    for (int slot : routine_.constants) slots.push_back(ConstantData(routine_.slots[static_cast<size_t>(slot)]));
    const std::vector<const EvalStep*> steps = StepsOf(device.plans(), routine_.evaluated);
    LoopFunctionRun run(routine_, function_, device, steps);
    SHOAL_TRY(run.Run(slots, &device.control_flow_state().iterations[routine_.loop]));
    run.Count();
    return {};
  }

  LoadedFunction function_;
};

class LoopSequenceThunk : public LoopThunk {
 public:
  LoopSequenceThunk(const Routine& routine, LoadedSequence code) : LoopThunk(routine), sequence_(routine, std::move(code)) {}

 private:
  bool IsPlanned(const ModulePlan& plans) const override { return sequence_.IsPlanned(plans); }
  Status RunLoop(Device& device, std::vector<void*>& state) const override { return sequence_.Run(device, state); }

  const SequenceCode sequence_;
};

// Runs a call of consecutive small ops.
class CallSequenceThunk : public Thunk {
 public:
  CallSequenceThunk(const Routine& routine, LoadedSequence code) : routine_(routine), sequence_(routine, std::move(code)) {}

  Result<Value> Run(Call& call) const override {
    // Evaluates step by step if values are observed.
    if (ValueObserverOf(call.device.settings()) != nullptr || !FitSlots(routine_, call.operands) ||
        !sequence_.IsPlanned(call.device.plans()))
      return EvaluatorOf(call.hlo.opcode)(call);
    std::vector<void*> slots;
    slots.reserve(routine_.slots.size());
    for (const Value& operand : call.operands) slots.push_back(const_cast<std::byte*>(operand.array().data()));
    std::vector<Value> results;
    for (const Shape* leaf : LeafShapes(call.hlo.shape())) {
      Array result(leaf->element_type(), ToDims(leaf->dims()));
      slots.push_back(result.mutable_data());
      results.emplace_back(std::move(result));
    }
    SHOAL_TRY(sequence_.Run(call.device, slots));
    size_t next = 0;
    return FromLeaves(call.hlo.shape(), results, next);
  }

 private:
  const Routine& routine_;
  const SequenceCode sequence_;
};

}  // namespace

std::unique_ptr<Thunk> NewLoopThunk(const Routine& routine, LoadedFunction function) {
  return std::make_unique<LoopFunctionThunk>(routine, std::move(function));
}

std::unique_ptr<Thunk> NewSequenceThunk(const Routine& sequence, LoadedSequence code) {
  if (sequence.loop != nullptr) return std::make_unique<LoopSequenceThunk>(sequence, std::move(code));
  return std::make_unique<CallSequenceThunk>(sequence, std::move(code));
}

}  // namespace shoal::internal
