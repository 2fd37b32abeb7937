// Estimates a schedule for an unscheduled module, similar to that of XLA's GPU pipeline. Elementwise ops are fused into
// their users. An all-reduce whose users keep only slices becomes a reduce-scatter. Collectives start early, and their
// dones come late. In a loop, a collective that depends on no heavy op of its iteration starts one iteration earlier.
#pragma once

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

DevicePlan EstimateSchedule(const DevicePlanInput& input);

}  // namespace shoal::internal
