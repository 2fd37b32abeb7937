// A module as a tree of rows whose costs sum to the module's totals. Loops, branches and calls contain the rows of
// their computations. Repeated layers and consecutive minor ops are folded. Each unfused instruction is in one row.
#pragma once

#include <string>
#include <vector>

#include "analyze/summary/module_facts.h"

namespace shoal::internal {

struct ProgramRow {
  enum class Kind : uint8_t {
    kOp,           // an op, or a call without contents
    kStart,        // the start of an async op
    kDone,         // the done of an async op
    kLoop,         // contains the body, then the condition
    kConditional,  // contains the branches
    kPart,         // a branch or a loop condition, labeled with the name of its computation
    kCall,         // contains the called computation, for example of a call or an async-start
    kMinor,        // contains consecutive minor ops
    kNoWork,       // contains ops that do no work: parameters, constants, tuples
    kRepeat,       // contains one period of a sequence that occurs `repeats` times in a row
  };
  Kind kind = Kind::kOp;
  int32_t parent = -1;  // index of an earlier row
  int64_t repeats = 1;
  std::string label;              // summary of the contents of a kMinor, kNoWork or kPart
  std::vector<uint32_t> members;  // ids of the instructions that the row represents, period by period
};

// Returns the rows in depth-first order. A computation with several callers appears only under the first caller.
std::vector<ProgramRow> ProgramRowsOf(const ModuleFacts& facts);

}  // namespace shoal::internal
