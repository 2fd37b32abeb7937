// Routine: a loop whose values are all small, with everything that its rounds do, as data that becomes one piece of code:
// no dispatch per step. Values live in slots; statements are kernels over whole slots, copies, loops and branches, and ops
// that no kernel computes: those are handed to whoever runs the routine.
//
// The first slots are the loop's state, leaf by leaf: memory that comes from outside and is written in place. Constants
// come from outside too and are only read. All other slots are the routine's own.
//
// A sequence is a routine of one block without a loop: small steps that follow each other. It is run statement by
// statement, as kernels on memory that is laid out beforehand: what it takes to start a step is paid once for all.
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
  std::shared_ptr<const Array> made_up;  // of a constant that the dump elided
};

struct RoutineStatement {
  enum class Kind : uint8_t {
    kKernel,  // kernel `kernel` on `slots`: its inputs, then its outputs
    kCopy,    // slots[1] = slots[0]
    kWhile,   // while (blocks[0] leaves slots[0] true) blocks[1]; the other slots are its state
    kBranch,  // blocks[slots[0]]; beyond the last block the last one; of a predicate the first one if it is true
    kEvaluate,  // the value of evaluated[kernel]; `slots`: its operands, then the leaves of its result
  };
  Kind kind = Kind::kKernel;
  size_t kernel = 0;
  std::vector<int> slots;
  std::vector<size_t> blocks;
  const Instruction* hlo = nullptr;  // of loops and branches
  // Of loops: times entered, rounds, times left because no round would have changed anything; of branches: times each
  // was taken.
  size_t counter = 0;
};

struct Routine {
  const Instruction* loop = nullptr;  // the while; none of a sequence
  size_t state_slots = 0;
  std::vector<bool> written;  // of the state: what stays as it is may be shared with others
  std::vector<RoutineSlot> slots;
  std::vector<int> constants;  // slots
  std::vector<FusedKernel> kernels;
  std::vector<const Instruction*> evaluated;
  std::vector<std::vector<RoutineStatement>> blocks;
  size_t condition = 0, body = 0;  // blocks of the loop itself
  int predicate = 0;               // slot that the condition leaves its answer in
  size_t counters = 0;
};

// Nothing if the loop does more than small work on small arrays.
std::unique_ptr<Routine> RoutineOf(const Instruction& loop);

// A call of what is small and does not branch as a sequence: the state is its operands, then the leaves of its result.
std::unique_ptr<Routine> SequenceOf(const Instruction& call);
// Makes calls of the computation's small steps that follow each other.
void GroupSmallOps(Module& module, Computation& computation);

// What the routine's own slots take; the elements that all its statements go through once.
int64_t OwnBytes(const Routine& routine);
int64_t WorkOf(const Routine& routine);

// What it depends on, so that equal ones are compiled once. `numbers`: of its kernels, in place of their text.
std::string ToString(const Routine& routine, std::span<const size_t> numbers = {});

// What codegen/ makes of a routine: runs rounds until the condition is false (gives 1), `most_rounds` are done (0), or
// `stop`, which is asked now and then, or `evaluate`, which works out evaluated[number], says so (2). slots: the state,
// then the constants. Counters are added to.
struct RoutineCalls {
  bool (*stop)(void* context) = nullptr;
  bool (*evaluate)(void* context, int64_t number, void* const* slots) = nullptr;  // whether to go on
  void* context = nullptr;
};
using RoutineCode = int64_t (*)(void* const* slots, int64_t max_rounds, int64_t* counters, const RoutineCalls* calls);

}  // namespace shoal::internal
