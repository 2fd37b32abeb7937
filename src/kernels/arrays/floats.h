// Conversion of narrow floats. Ops on floats of at most 16 bits compute in f32 and round each result.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/ir/element_type.h"

namespace shoal::internal {

// A float type without a C++ equivalent: f16, bf16, f8…, f6…, f4….
inline bool IsNarrowFloat(ElementType type) { return IsFloat(type) && BitWidth(type) <= 16; }

// `type` is a narrow float, or f32, which is copied. Encoding rounds to nearest even.
void DecodeFloats(ElementType type, const std::byte* in, float* out, int64_t n);
void EncodeFloats(ElementType type, const float* in, std::byte* out, int64_t n);
// Rounds once; a conversion through f32 would round twice.
void EncodeDoubles(ElementType type, const double* in, std::byte* out, int64_t n);

inline float FromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
inline uint16_t ToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);  // a quiet NaN
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace shoal::internal
