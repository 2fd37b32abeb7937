// One order of everything that runs by itself: the entry computation, with the computations of loops, branches, calls
// and async starts standing right before the instruction that runs them. A loop's body stands there once.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

enum class ScheduleSource : uint8_t {
  kText,    // of the text, which is the schedule if the module has one
  kListScheduled,  // ours: see ListSchedule
};

class Timeline {
 public:
  struct Span {
    int64_t start = 0, end = 0;           // its steps are [start, end)
    int64_t until = -1;                   // of a computation that runs asynchronously: the time of its done
    size_t first = 0;                     // of its instructions, in times_
    const Instruction* caller = nullptr;  // the one it stands before; null: the entry
  };

  Timeline(const Module& module, ScheduleSource order);

  const std::vector<const Instruction*>& steps() const { return steps_; }
  int64_t end() const { return static_cast<int64_t>(steps_.size()); }
  // The place in steps(); -1 for what is fused, part of another op, or never runs.
  int64_t TimeOf(const Instruction& hlo) const;
  // Null if it does not run by itself.
  const Span* SpanOf(const Computation& computation) const;
  // Whether the computation stands before this caller. It stands before the first of its callers only.
  bool RunsAt(const Computation& computation, const Instruction& caller) const;
  const Computation* entry() const { return entry_; }

 private:
  struct Frame;
  void Open(const Computation& computation, const Instruction* caller, ScheduleSource order, std::vector<Frame>& frames);
  void ExtendAsync();

  const Computation* entry_;
  std::vector<const Instruction*> steps_;
  std::vector<int64_t> times_;
  std::unordered_map<const Computation*, Span> spans_;
};

// The computations an instruction runs as a whole, in the order in which it runs them: not those of a fusion or of a
// reduce, which are part of the op.
std::vector<const Computation*> ExecutedComputations(const Instruction& caller);

// An order in which each instruction comes after its operands and control predecessors, chosen so that what frees
// most memory comes first, and then what needs least.
std::vector<const Instruction*> ListSchedule(const Computation& computation);

}  // namespace shoal::internal
