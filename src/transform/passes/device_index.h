// Integer values that depend on the device id.
#pragma once

#include <optional>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// Evaluates an integer scalar on a device. Returns nullopt if the scalar depends on anything but the device's ids,
// constants and elements of constant tables.
std::optional<int64_t> EvaluateOnDevice(const Instruction& hlo, const DeviceGrid& grid, int64_t device);

}  // namespace shoal::internal
