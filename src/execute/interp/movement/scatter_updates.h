// Updates folded into arrays at places that are data: what scatter and select-and-scatter come down to.
#pragma once

#include "execute/interp/reduction/reducer.h"

namespace shoal::internal {

// For i = 0, 1, …: arrays[…][places[i]] = reducer(arrays[…][places[i]], updates[…][i]), in that order where places
// repeat. Negative places are left out.
Status FoldAt(Reducer& reducer, std::span<Array> arrays, std::span<const int64_t> places,
              std::span<const std::byte* const> updates);

}  // namespace shoal::internal
