// Gathers the profile of a run across processes.
#pragma once

#include "execute/interp/step_log.h"

namespace shoal::internal {

class Job;

// Collective. Appends the logs of all processes, converted to the first process's clock, to the first process's log.
void GatherStepLog(Job& job, const Placement& placement, const Module& module, StepLog& log);

}  // namespace shoal::internal
