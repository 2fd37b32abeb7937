// Estimates the number of instructions of a run, for progress reports.
#pragma once

#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

// Number of instructions that a device evaluates, with loop bodies multiplied by trip count. This is approximate, since
// loop-invariant instructions are evaluated once. 0 if a trip count depends on data.
double EstimateInstructionCount(const Module& module);

}  // namespace shoal::internal
