// A total order of all instructions that run on their own: the entry computation, with the computations of loops,
// branches, calls and async starts right before the instruction that runs them. A loop body appears once.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

enum class ScheduleSource : uint8_t {
  kText,           // text order, which is the schedule if the module has one
  kListScheduled,  // see ListSchedule
};

class Timeline {
 public:
  struct Span {
    int64_t start = 0, end = 0;           // its steps are [start, end)
    int64_t until = -1;                   // for an async computation: the time of its done
    size_t first = 0;                     // index in times_ of its first instruction
    const Instruction* caller = nullptr;  // the instruction that it precedes; null for the entry
  };

  Timeline(const Module& module, ScheduleSource order);

  const std::vector<const Instruction*>& steps() const { return steps_; }
  int64_t end() const { return static_cast<int64_t>(steps_.size()); }
  // The index in steps(); -1 for instructions that are fused, part of another op, or never run.
  int64_t TimeOf(const Instruction& hlo) const;
  // Null if the computation does not run on its own.
  const Span* SpanOf(const Computation& computation) const;
  // True if the computation precedes this caller in the timeline. It precedes only its first caller.
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

// The computations that an instruction executes, in execution order. Excludes the computations of a fusion or a reduce,
// which are part of the op.
std::vector<const Computation*> ExecutedComputations(const Instruction& caller);

// Returns a schedule in which each instruction comes after its operands and control predecessors. Among the ready
// instructions, it prefers the one that frees the most memory, or else needs the least.
std::vector<const Instruction*> ListSchedule(const Computation& computation);

}  // namespace shoal::internal
