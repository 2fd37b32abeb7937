// How many steps a run will take, for those who wait for it.
#pragma once

#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

// Instructions that a device evaluates, loops counted as often as they run: about as many, since what does not change in
// a loop is evaluated once. 0 if a loop depends on data.
double EstimateInstructionCount(const Module& module);

}  // namespace shoal::internal
