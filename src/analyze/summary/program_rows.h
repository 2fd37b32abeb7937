// The program as a table whose rows sum to its totals: loops, branches and calls hold what they run, repeated layers
// are folded into one, light ops in a row are one row. Every instruction that runs by itself is in exactly one row.
#pragma once

#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/instruction_ids.h"
#include "analyze/summary/fusion_work.h"

namespace shoal::internal {

struct ProgramRow {
  enum class Kind : uint8_t {
    kOp,           // also loops, branches and calls that hold nothing
    kStart,        // of an async op
    kDone,         // of one
    kLoop,         // holds its body, then its condition
    kConditional,  // holds its branches
    kPart,         // a branch or a condition: a computation by name
    kCall,         // holds what is called, also what an async start wraps
    kMinor,        // holds ops that matter little, in a row
    kNoWork,        // holds ops that do no work: parameters, constants, tuples
    kRepeat,       // holds one round of what stands `repeats` times in a row
  };
  Kind kind = Kind::kOp;
  int32_t parent = -1;  // a row before it
  int64_t repeats = 1;
  std::string label;              // of kMinor, kNoWork and kPart: what is in it
  std::vector<uint32_t> members;  // ids of the instructions it stands for, in the order of the rounds
};

// Depth first. A computation that is called from several places stands under its first caller.
std::vector<ProgramRow> ProgramRowsOf(const Module& module, const ExecutionCounts& executions,
                                      const ModuleCollectives& collectives, const ModuleCost& cost,
                                      const InstructionIds& ids, FusionWorks& works);

}  // namespace shoal::internal
