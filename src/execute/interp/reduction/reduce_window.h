// Folding the elements under a moving window.
#pragma once

#include "execute/interp/reduction/reducer.h"

namespace shoal::internal {

// For each place of the window the fold of what lies under it, in row-major order of the window, from `inits` on.
// `places` are the sizes of the results (WindowedOutputDims).
Result<std::vector<Array>> ReduceWindows(Reducer& reducer, std::span<const Array> inputs, std::span<const Array> inits,
                                         const Window* window, Ints places);

}  // namespace shoal::internal
