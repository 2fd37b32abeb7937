// Gathers the profile of a run across processes.
#pragma once

#include "execute/interp/step_log.h"

namespace shoal::internal {

class Job;

// Collective. Adds the logs of all processes to the first process's log, converted to the first process's clock.
void GatherStepLog(Job& job, const Placement& placement, const Module& module, StepLog& log);

}  // namespace shoal::internal
