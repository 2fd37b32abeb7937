// One device's step, event by event. Where classes of devices wait for each other, each is simulated with what the
// others' simulations said about when they arrive, until nothing changes any more.
#pragma once

#include "predict/timeline/arrivals.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// `arrivals` is null where all devices are alike.
SimulatedStep Simulate(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClasses& classes, size_t c, Arrivals* arrivals);

}  // namespace shoal::internal
