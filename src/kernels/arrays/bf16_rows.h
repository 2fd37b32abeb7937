// Rows of bf16, computed with in f32 and rounded after each step.
#pragma once

#include <cstdint>

namespace shoal::internal {

// to[i] = to[i] + from[i], and so on, for as many i < n as fill vectors; how many that were. Nan is kept.
int64_t AddBf16(uint16_t* to, const uint16_t* from, int64_t n);
int64_t MultiplyBf16(uint16_t* to, const uint16_t* from, int64_t n);
int64_t MinimumBf16(uint16_t* to, const uint16_t* from, int64_t n);
int64_t MaximumBf16(uint16_t* to, const uint16_t* from, int64_t n);

}  // namespace shoal::internal
