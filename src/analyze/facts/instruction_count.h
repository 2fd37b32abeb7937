// Estimates the number of instructions of a run, for progress reports.
#pragma once

#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

// Returns the number of instructions that a device evaluates, with loop bodies multiplied by trip count. The result is
// approximate, since loop-invariant instructions are evaluated only once. Returns 0 if a trip count depends on data.
double EstimateInstructionCount(const Module& module);

}  // namespace shoal::internal
