// The program as a tree of rows that sum to its totals. Loops, branches and calls contain the rows that they run;
// repeated layers and consecutive minor ops are folded. Every instruction outside fusions is in exactly one row.
#pragma once

#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/instruction_ids.h"
#include "analyze/summary/fusion_work.h"

namespace shoal::internal {

struct ProgramRow {
  enum class Kind : uint8_t {
    kOp,           // an op, also a loop, branch or call without contents
    kStart,        // start of an async op
    kDone,         // done of an async op
    kLoop,         // contains its body, then its condition
    kConditional,  // contains its branches
    kPart,         // a branch or a loop condition, labeled with the name of its computation
    kCall,         // contains the called computation, also that of an async start
    kMinor,        // contains consecutive minor ops
    kNoWork,       // contains ops that do no work: parameters, constants, tuples
    kRepeat,       // contains one period of a sequence that occurs `repeats` times in a row
  };
  Kind kind = Kind::kOp;
  int32_t parent = -1;  // index of an earlier row
  int64_t repeats = 1;
  std::string label;              // for kMinor, kNoWork and kPart: a summary of the contents
  std::vector<uint32_t> members;  // ids of the instructions that the row represents, in the order of the periods
};

// Returns the rows depth first. A computation with several callers is under its first caller.
std::vector<ProgramRow> ProgramRowsOf(const Module& module, const ExecutionCounts& executions,
                                      const ModuleCollectives& collectives, const ModuleCost& cost,
                                      const InstructionIds& ids, FusionWorks& works);

}  // namespace shoal::internal
