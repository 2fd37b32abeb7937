// SequencePlan: a sequence as a flat list of steps with jumps, and the memory of its slots. Slots that are never live at
// the same time share memory.
#pragma once

#include "compile/program/routine.h"

namespace shoal::internal {

struct SequenceStep {
  enum class Kind : uint8_t {
    kKernel,    // kernel `number`
    kCopy,      // slots[1] = slots[0]
    kEvaluate,  // instruction `number` of Routine::evaluated
    kRoutine,   // routine `number`
    kEnter,     // begins loop `number`
    kTest,      // leaves loop `number` if slots[0] is false
    kRepeat,    // ends an iteration of loop `number`
    kBranch,    // continues at a target of branch `number`, selected by slots[0]
    kJump,      // continues at step `target`
  };
  Kind kind = Kind::kKernel;
  size_t number = 0, target = 0;
  size_t first = 0;  // index of the first slot in SequencePlan::operands
};

struct SequencePlan {
  struct Loop {
    const Instruction* hlo = nullptr;
    size_t counter = 0;       // as in RoutineStatement
    size_t head = 0, end = 0;  // the first step of the condition, and the step after the loop
    std::vector<int> state;
  };
  struct Branch {
    const Instruction* hlo = nullptr;
    size_t counter = 0;
    bool is_predicate = false;
    std::vector<size_t> targets;
  };

  std::vector<SequenceStep> steps;
  std::vector<int> operands;  // slots of all steps
  std::vector<Loop> loops;
  std::vector<Branch> branches;
  std::vector<int64_t> offsets;  // for each slot, its offset in the memory of the sequence; -1: it has none
  int64_t bytes = 0;             // size of this memory
};

// With `shares_memory` false, each slot has memory of its own.
SequencePlan PlanSequence(const Routine& sequence, bool shares_memory = true);

}  // namespace shoal::internal
