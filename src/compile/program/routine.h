// Routine: a loop as data, without tuples and without dispatch per op. Values are in slots. Statements are kernels over
// whole slots, copies, loops, branches, and ops without a kernel, which the interpreter or the library computes.
//
// The first slots are the leaves of the loop's state. The caller passes their memory, and the routine updates it in
// place. All other slots are local to the routine, except constants, which are only read.
//
// A routine has one of two forms. A loop with few small values is a function: one piece of machine code. In every other
// routine, a sequence, each kernel is compiled separately, and the statements run one by one on planned memory
// (sequence_plan.h). A sequence is not limited in size, and large kernels in it run in parallel. Loops in a sequence
// become functions if they are small enough. A call of consecutive small ops is a sequence too: its state are its
// operands, which it does not change, and the leaves of its result.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ir/module.h"
#include "kernels/arrays/array.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

struct RoutineSlot {
  ElementType type = ElementType::kInvalid;
  int64_t count = 0;
  const Literal* constant = nullptr;
  std::shared_ptr<const Array> generated;  // generated value of an elided constant
};

struct RoutineStatement {
  enum class Kind : uint8_t {
    kKernel,    // kernel `kernel`; `slots`: its inputs, then its outputs
    kCopy,      // slots[1] = slots[0]
    kWhile,     // while (blocks[0] sets slots[0] to true) blocks[1]; the other slots are its state
    kBranch,    // blocks[slots[0]]; out of range: the last block; for a predicate, true selects the first block
    kEvaluate,  // evaluated[kernel]; `slots`: its operands, then the leaves of its result
    kRoutine,   // routines[kernel], a loop; `slots`: its state
  };
  Kind kind = Kind::kKernel;
  size_t kernel = 0;
  std::vector<int> slots;
  std::vector<size_t> blocks;
  const Instruction* hlo = nullptr;  // set for loops and branches
  // Index of the first counter. For a loop: executions, iterations, and exits because the state stopped changing. For a
  // branch: executions of each block.
  size_t counter = 0;
};

struct Routine {
  const Instruction* loop = nullptr;  // the while; null for the sequence of a call
  bool is_function = false;
  size_t state_slots = 0;
  std::vector<bool> written;  // for each state slot; memory of slots that are not written may be shared
  std::vector<RoutineSlot> slots;
  std::vector<int> constants;  // slots of the constants
  std::vector<FusedKernel> kernels;
  std::vector<const Instruction*> evaluated;
  std::vector<std::shared_ptr<const Routine>> routines;  // functions that a sequence calls
  std::vector<std::vector<RoutineStatement>> blocks;
  size_t condition = 0, body = 0;  // blocks of the loop itself
  int predicate = 0;               // slot of the condition's result
  size_t counters = 0;
};

// The routine of a loop, as a function if possible; null if it has effects, dynamic sizes, or large copies that
// step-by-step evaluation avoids by reference counting.
std::unique_ptr<Routine> RoutineOf(const Instruction& loop);

// The sequence of a call of small ops without branches; else null. State: its operands, then the leaves of its result.
std::unique_ptr<Routine> SequenceOf(const Instruction& call);

int64_t BytesOf(const RoutineSlot& slot);
// Number of slots that a statement without blocks reads. It writes the others.
size_t InputCount(const Routine& routine, const RoutineStatement& statement);
// Total size of the local slots, and number of elements that the statements process if each runs once.
int64_t OwnBytes(const Routine& routine);
int64_t WorkOf(const Routine& routine);
int64_t WorkOf(const FusedKernel& kernel);

// Text of all that the code depends on, so that equal routines are compiled once. `numbers` replace the kernels' texts.
std::string ToString(const Routine& routine, std::span<const size_t> numbers = {});

// Machine code of a function. Runs iterations and returns 1 once the condition is false, 0 after `max_iterations`, or 2
// if a callback ends the loop: `stop`, called periodically, returns true, or `evaluate`, which computes
// evaluated[number], returns false. slots: the state, then the constants. Adds to the counters.
struct RoutineCalls {
  bool (*stop)(void* context) = nullptr;
  bool (*evaluate)(void* context, int64_t number, void* const* slots) = nullptr;
  void* context = nullptr;
};
using RoutineCode = int64_t (*)(void* const* slots, int64_t max_iterations, int64_t* counters, const RoutineCalls* calls);

}  // namespace shoal::internal
