// Simulates a step on one device, event by event. If there are several device classes, the simulation of a class uses
// the arrival times of the other classes, and Predict repeats the simulations until no arrival time changes.
#pragma once

#include "predict/timeline/arrivals.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// Simulates class `c`. `arrivals` is null if there is only one class.
SimulatedStep Simulate(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClasses& classes, size_t c, Arrivals* arrivals);

}  // namespace shoal::internal
