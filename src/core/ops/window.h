// The number of positions of a window.
#pragma once

#include <vector>

#include "core/ops/rules.h"

namespace shoal::internal {

// Rule ids of the op with the window. rank: as many dimensions as the array; positive: positive sizes, strides and
// dilations; bounds: a padded size that is not negative, and sizes that do not overflow.
struct WindowRules {
  std::string_view rank, positive, bounds;
};

// The number of positions in each dimension of `base`: (padded dilated base - dilated window) / stride + 1, or 0 if the
// window does not fit. An unbounded dimension stays unbounded.
Result<std::vector<int64_t>> WindowedOutputDims(const Instruction& hlo, const Window* window, Ints base,
                                                const WindowRules& rules);

}  // namespace shoal::internal
