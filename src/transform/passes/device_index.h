// Integers that follow from which device this is.
#pragma once

#include <optional>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// The value of an integer scalar on a device: of its ids, of constants, of one element of a constant table, and of what
// is computed from these. Nothing if it depends on anything else.
std::optional<int64_t> EvaluateOnDevice(const Instruction& hlo, const DeviceGrid& grid, int64_t device);

}  // namespace shoal::internal
