// How many places a window has.
#pragma once

#include <vector>

#include "core/ops/rules.h"

namespace shoal::internal {

// The rules of the op that has the window: as many dimensions as what it moves over; sizes, strides and
// dilations positive; padding that leaves something, and sizes that do not overflow.
struct WindowRules {
  std::string_view rank, positive, bounds;
};

// For each dimension of `base` the number of places, (padded dilated base - dilated window) / stride + 1;
// none if the window does not fit once. Unbounded stays unbounded.
Result<std::vector<int64_t>> WindowedOutputDims(const Instruction& hlo, const Window* window, Ints base,
                                          const WindowRules& rules);

}  // namespace shoal::internal
