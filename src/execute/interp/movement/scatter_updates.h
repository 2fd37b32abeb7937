// The common part of scatter and select-and-scatter: folds updates into arrays at data-dependent indices.
#pragma once

#include "execute/interp/reduction/reducer.h"

namespace shoal::internal {

// Computes arrays[…][indices[i]] = reducer(arrays[…][indices[i]], updates[…][i]) for i = 0, 1, …. Updates with equal
// indices are applied in this order. Updates with a negative index are dropped.
Status FoldAtIndices(Reducer& reducer, std::span<Array> arrays, std::span<const int64_t> indices,
                     std::span<const std::byte* const> updates);

}  // namespace shoal::internal
