// A total order of all instructions that are not part of another op. It lists the entry computation, with the
// computations of loops, branches, calls and async starts right before their caller. A loop body appears once.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

enum class ScheduleSource : uint8_t {
  kText,           // text order, which is the schedule of a scheduled module
  kListScheduled,  // the order that ListSchedule returns
};

class Timeline {
 public:
  struct Span {
    int64_t start = 0, end = 0;           // the steps of the computation are [start, end)
    int64_t until = -1;                   // for an async computation, the time of the done
    size_t first = 0;                     // index in times_ of the first instruction
    const Instruction* caller = nullptr;  // the caller that follows the computation; null for the entry
  };

  Timeline(const Module& module, ScheduleSource order);

  const std::vector<const Instruction*>& steps() const { return steps_; }
  int64_t end() const { return static_cast<int64_t>(steps_.size()); }
  // Returns the index in steps(), or -1 for instructions that are part of another op or never run.
  int64_t TimeOf(const Instruction& hlo) const;
  // Returns null if the computation is part of an op or never runs.
  const Span* SpanOf(const Computation& computation) const;
  // True if the timeline has the computation before this caller. A computation appears only before its first caller.
  bool RunsAt(const Computation& computation, const Instruction& caller) const;
  const Computation* entry() const { return entry_; }

 private:
  struct Frame;
  void Open(const Computation& computation, const Instruction* caller, ScheduleSource order,
            std::vector<Frame>& frames);
  void ExtendAsync();

  const Computation* entry_;
  std::vector<const Instruction*> steps_;
  std::vector<int64_t> times_;
  std::unordered_map<const Computation*, Span> spans_;
};

// Returns the computations that an instruction executes, in execution order. Excludes computations that are part of the
// op, such as those of a fusion or a reduce.
std::vector<const Computation*> ExecutedComputations(const Instruction& caller);

// Returns a schedule in which each instruction comes after its operands and control predecessors. Among the ready
// instructions, the schedule prefers the one that frees the most memory, net of the memory that it allocates.
std::vector<const Instruction*> ListSchedule(const Computation& computation);

}  // namespace shoal::internal
