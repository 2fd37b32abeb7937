// Copies of elements at data-dependent indices. The caller must ensure that every index is in bounds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::internal {

// out[i] = in[indices[i]] for i < n.
void GatherElements(int element_bytes, std::byte* out, const std::byte* in, const int64_t* indices, int64_t n);
// out[indices[i]] = in[i] for i < n; the last of several elements with one index wins.
void ScatterElements(int element_bytes, std::byte* out, const std::byte* in, const int64_t* indices, int64_t n);

}  // namespace shoal::internal
