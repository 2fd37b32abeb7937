// The number of positions of a window.
#pragma once

#include <vector>

#include "core/ops/rules.h"

namespace shoal::internal {

// Rule ids of the op with the window. rank: the window has as many dimensions as the array. positive: sizes, strides
// and dilations are positive. bounds: padded sizes are not negative, and no size overflows.
struct WindowRules {
  std::string_view rank, positive, bounds;
};

// The number of positions in each dimension of `base`: (padded dilated base - dilated window) / stride + 1, or 0 if the
// window does not fit. An unbounded dimension stays unbounded.
Result<std::vector<int64_t>> WindowedOutputDims(const Instruction& hlo, const Window* window, Ints base,
                                                const WindowRules& rules);

}  // namespace shoal::internal
