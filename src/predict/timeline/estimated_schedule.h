// Estimates a schedule for an unscheduled module, roughly that of XLA's GPU pipeline. Elementwise ops are fused into
// users, an all-reduce whose users keep slices becomes a reduce-scatter, and collectives start early and are waited for
// late. In a loop, a collective that depends on no value of its iteration starts in the previous iteration.
#pragma once

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

DevicePlan EstimateSchedule(const DevicePlanInput& input);

}  // namespace shoal::internal
