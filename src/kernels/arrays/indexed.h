// Elements at places that are data. The caller has made sure that every place is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::internal {

// out[i] = in[places[i]] for i < n.
void GatherElements(int element_bytes, std::byte* out, const std::byte* in, const int64_t* places, int64_t n);
// out[places[i]] = in[i] for i < n; of equal places the last counts.
void ScatterElements(int element_bytes, std::byte* out, const std::byte* in, const int64_t* places, int64_t n);

}  // namespace shoal::internal
