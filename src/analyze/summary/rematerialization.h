// Ranks the residuals of scans by the memory that their recomputation would free and the flops that it would add.
#pragma once

#include "analyze/memory/memory.h"
#include "analyze/summary/module_facts.h"

namespace shoal::internal {

struct RematerializationCandidate {
  const LiveBuffer* buffer = nullptr;     // live at the peak
  const Instruction* producer = nullptr;  // the op in a loop body whose results the buffer stacks
  double flops = 0;                       // of recomputing all slices from the other residuals and the loop's inputs
};

// The candidates among the buffers that are live at the peak, those that free most bytes per flop first. Recomputation
// starts from values that remain stored: parameters, loop state, other residuals, and results of collectives.
std::vector<RematerializationCandidate> RematerializationCandidates(const ModuleFacts& facts);

}  // namespace shoal::internal
