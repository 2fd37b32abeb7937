// Folds updates into arrays at data-dependent indices. The common part of scatter and select-and-scatter.
#pragma once

#include "execute/interp/reduction/reducer.h"

namespace shoal::internal {

// For i = 0, 1, …: arrays[…][indices[i]] = reducer(arrays[…][indices[i]], updates[…][i]), in that order for repeated
// indices. Updates with a negative index are dropped.
Status FoldAtIndices(Reducer& reducer, std::span<Array> arrays, std::span<const int64_t> indices,
                     std::span<const std::byte* const> updates);

}  // namespace shoal::internal
