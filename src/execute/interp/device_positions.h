// Where the devices of a run are, for its progress line.
#pragma once

#include <span>

#include "execute/interp/device.h"

namespace shoal::internal {

// Instructions executed so far, summed over all devices.
double InstructionsDone(std::span<const std::unique_ptr<Device>> devices);
// "90 instructions, 40 iterations; devices 0-3 at dot.5, device 4 at all-reduce.1"
std::string FormatDevicePositions(std::span<const std::unique_ptr<Device>> devices);

}  // namespace shoal::internal
