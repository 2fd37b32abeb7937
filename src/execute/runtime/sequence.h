// Runs sequences (compile/program/routine.h): a flat list of steps with jumps over planned memory.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "compile/program/sequence_plan.h"
#include "execute/runtime/launch.h"
#include "execute/runtime/loop_function.h"

namespace shoal::internal {

// The code of a sequence, in the order of the lists of the Routine.
struct LoadedSequence {
  std::vector<LoadedKernel> kernels;
  std::vector<LoadedFunction> functions;
  std::vector<LoadedLibrary> library;  // null: the interpreter evaluates the instruction
};

// Immutable, except for a cache: several devices and runs may share it.
class SequenceCode {
 public:
  // The routine must outlive this object.
  SequenceCode(const Routine& sequence, LoadedSequence code);

  // True if each evaluated instruction has a step. `plans` must be the same in all calls.
  bool IsPlanned(const ModulePlan& plans) const;
  // Runs the sequence on the memory of its state. Precondition: IsPlanned was called.
  Status Run(Device& device, std::span<void* const> state) const;

 private:
  friend class SequenceRun;
  struct Step {
    SequenceStep::Kind kind;
    bool runs_in_tasks = false;
    uint32_t number = 0, target = 0, first = 0;
    KernelCode code = nullptr;
    int64_t rows = 0, lanes = 0;  // of a kernel; for a copy, `lanes` is its number of bytes
  };

  const Routine& sequence_;
  const LoadedSequence code_;
  const SequencePlan plan_;
  std::vector<Launch> launches_;  // of each kernel
  std::vector<Step> steps_;
  mutable std::once_flag once_;
  mutable bool is_planned_ = false;
  mutable std::vector<const EvalStep*> evaluated_;                      // of Routine::evaluated
  mutable std::vector<std::vector<const EvalStep*>> function_evaluated_;  // likewise, of each function
};

}  // namespace shoal::internal
