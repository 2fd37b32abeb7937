// The profile of a run across processes, in one place.
#pragma once

#include "execute/interp/step_log.h"

namespace shoal::internal {

class Job;

// Every process comes with the log of its own devices; that of the first goes with those of all, by the first's clock.
void GatherStepLog(Job& job, const Placement& placement, const Module& module, StepLog& log);

}  // namespace shoal::internal
