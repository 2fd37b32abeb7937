// Simulates the step of one device, event by event. If classes of devices wait for each other, the simulation of each
// class uses the arrival times of the others. It repeats until no arrival time changes.
#pragma once

#include "predict/timeline/arrivals.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// Simulates class `c`. `arrivals` is null if there is only one class.
SimulatedStep Simulate(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClasses& classes, size_t c, Arrivals* arrivals);

}  // namespace shoal::internal
