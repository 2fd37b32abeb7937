// The plan of a module that has no schedule: what XLA's GPU pipeline would do with it, roughly. Elementwise work joins
// its users, an all-reduce of which each device keeps a slice becomes a reduce-scatter, collectives begin as soon as
// they can and are waited for as late as possible, and in loops what needs nothing of a round begins in the one before.
#pragma once

#include "predict/timeline/device_plan.h"

namespace shoal {

StepPlan OurSchedule(const PlanInput& input);

}  // namespace shoal
