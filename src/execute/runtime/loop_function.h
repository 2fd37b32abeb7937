// A run of a loop that is compiled to one function.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include "compile/program/routine.h"
#include "execute/interp/device.h"

namespace shoal::internal {

// Evaluates instructions of a routine that are not compiled. `steps` belong to Routine::evaluated.
class RoutineEvaluator {
 public:
  RoutineEvaluator(Device& device, std::span<const EvalStep* const> steps) : device_(device), steps_(steps) {}

  Device& device() const { return device_; }
  // `slots`: the operands, which are read in place, then the results.
  Status Evaluate(size_t number, void* const* slots) const;

 private:
  Device& device_;
  std::span<const EvalStep* const> steps_;
};

// The steps of the instructions; empty if one of them has none, because its value is unused.
std::vector<const EvalStep*> StepsOf(const ModulePlan& plans, std::span<const Instruction* const> instructions);

class LoopFunctionRun {
 public:
  LoopFunctionRun(const Routine& routine, RoutineCode code, RoutineEvaluator evaluator)
      : routine_(routine), code_(code), evaluator_(evaluator), counters_(routine.counters, 0) {}

  // Runs the loop to its end, as often as called. slots: the state, then the constants. Updates `iterations` if it is
  // not null.
  Status Run(std::span<void* const> slots, int64_t* iterations);
  // Adds the same execution counts to the device's counts as step-by-step evaluation would.
  void Count() const;

 private:
  std::vector<std::byte> SmallStateBytes(std::span<void* const> slots, int64_t max_bytes) const;

  const Routine& routine_;
  RoutineCode code_;
  RoutineEvaluator evaluator_;
  std::vector<int64_t> counters_;
  int64_t entered_ = 0;
};

// Adds the counts of the loops and branches in the blocks of a routine.
void CountStatements(Device& device, const Routine& routine, std::span<const int64_t> counters);
void CountLoop(Device& device, const Instruction& loop, int64_t entered, int64_t iterations);

// The memory of a constant slot.
void* ConstantData(const RoutineSlot& slot);
// Moves the leaves out of a value.
void TakeLeaves(Value value, std::vector<Array>& leaves);
// True if the arrays have the sizes of the routine's first slots. Dynamic dimensions may have others.
bool FitSlots(const Routine& routine, std::span<const Value> leaves);

}  // namespace shoal::internal
