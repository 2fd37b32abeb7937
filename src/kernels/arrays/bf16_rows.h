// Elementwise ops on rows of bf16: computed in f32, with each result rounded to bf16.
#pragma once

#include <cstdint>

namespace shoal::internal {

// to[i] = op(to[i], from[i]) for the leading elements that fill whole vectors; returns their number. NaN propagates.
int64_t AddBf16(uint16_t* to, const uint16_t* from, int64_t n);
int64_t MultiplyBf16(uint16_t* to, const uint16_t* from, int64_t n);
int64_t MinimumBf16(uint16_t* to, const uint16_t* from, int64_t n);
int64_t MaximumBf16(uint16_t* to, const uint16_t* from, int64_t n);

}  // namespace shoal::internal
