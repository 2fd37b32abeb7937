// Reductions over a moving window.
#pragma once

#include "execute/interp/reduction/reducer.h"

namespace shoal::internal {

// Folds the elements of each window in row-major order of the window, starting from `inits`. `result_dims` are the
// dimensions of the results (WindowedOutputDims).
Result<std::vector<Array>> ReduceWindows(Reducer& reducer, std::span<const Array> inputs, std::span<const Array> inits,
                                         const Window* window, Ints result_dims);

}  // namespace shoal::internal
