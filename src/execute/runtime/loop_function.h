// A run of a loop that is compiled to one function.
#pragma once

#include <algorithm>
#include <exception>
#include <span>
#include <vector>

#include "compile/program/routine.h"
#include "execute/interp/device.h"
#include "execute/runtime/launch.h"

namespace shoal::internal {

// The code of a routine that is a function.
struct LoadedFunction {
  RoutineCode code = nullptr;
  std::vector<LoadedLibrary> library;  // of Routine::evaluated; null: the interpreter evaluates the instruction
};

// A library function that is called repeatedly, with arrays in the memory of slots.
class LibraryCall {
 public:
  LibraryCall(const Instruction& hlo, const LoadedLibrary& library, void* const* slots);
  // True if the arrays are in these slots.
  bool Uses(void* const* slots) const { return std::equal(slots_.begin(), slots_.end(), slots); }
  Status Run(ThreadPool& pool);

 private:
  const Instruction& hlo_;
  const LoadedLibrary& library_;
  std::vector<void*> slots_;
  std::vector<Array> operands_, results_;
};

// Evaluates instructions of a routine that are not compiled, by library functions or the interpreter.
class RoutineEvaluator {
 public:
  // `steps` and `library` belong to Routine::evaluated.
  RoutineEvaluator(Device& device, std::span<const EvalStep* const> steps, std::span<const LoadedLibrary> library)
      : device_(device), steps_(steps), library_(library), calls_(steps.size()) {}

  Device& device() const { return device_; }
  // `slots`: the operands, which are read in place, then the results.
  Status Evaluate(size_t number, void* const* slots);

 private:
  Status Interpret(const EvalStep& step, void* const* slots) const;

  Device& device_;
  std::span<const EvalStep* const> steps_;
  std::span<const LoadedLibrary> library_;
  std::vector<std::unique_ptr<LibraryCall>> calls_;
};

// The steps of the instructions; empty if one of them has none, because its value is unused.
std::vector<const EvalStep*> StepsOf(const ModulePlan& plans, std::span<const Instruction* const> instructions);

class LoopFunctionRun {
 public:
  LoopFunctionRun(const Routine& routine, const LoadedFunction& function, Device& device, std::span<const EvalStep* const> steps)
      : routine_(routine), code_(function.code), evaluator_(device, steps, function.library), counters_(routine.counters, 0) {}

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
