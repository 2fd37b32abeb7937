// The plan of a module that has no schedule: what XLA's GPU pipeline would do with it, roughly. Elementwise work participants
// its users, an all-reduce of which each device keeps a slice becomes a reduce-scatter, collectives begin as soon as
// they can and are waited for as late as possible, and in loops what needs nothing of a round begins in the one before.
#pragma once

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

DevicePlan EstimateSchedule(const DevicePlanInput& input);

}  // namespace shoal::internal
