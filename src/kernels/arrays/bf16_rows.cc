#include "kernels/arrays/bf16_rows.h"

#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

enum class RowOp : uint8_t { kAdd, kMultiply, kMinimum, kMaximum };

// Computes in vector registers: the bits of a bf16 are the upper half of the bits of an f32.
template <RowOp op>
[[gnu::always_inline]] inline int64_t ApplyToVectors(uint16_t* to, const uint16_t* from, int64_t n) {
  typedef uint16_t Halves __attribute__((vector_size(16), aligned(2), may_alias));
  typedef uint32_t Bits __attribute__((vector_size(32)));
  typedef float Floats __attribute__((vector_size(32)));
  typedef uint16_t Packed __attribute__((vector_size(16)));
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const Packed a = *reinterpret_cast<const Halves*>(to + i), b = *reinterpret_cast<const Halves*>(from + i);
    const Bits wide_a = __builtin_convertvector(a, Bits) << 16, wide_b = __builtin_convertvector(b, Bits) << 16;
    const auto x = __builtin_bit_cast(Floats, wide_a), y = __builtin_bit_cast(Floats, wide_b);
    Floats result;
    if constexpr (op == RowOp::kAdd) result = x + y;
    if constexpr (op == RowOp::kMultiply) result = x * y;
    if constexpr (op == RowOp::kMinimum) result = (x != x) | (x < y) ? x : y;
    if constexpr (op == RowOp::kMaximum) result = (x != x) | (x > y) ? x : y;
    const Bits bits = __builtin_bit_cast(Bits, result);
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, nan = (bits >> 16) | 0x40u;
    *reinterpret_cast<Halves*>(to + i) = __builtin_convertvector((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded, Packed);
  }
  return i;
}

}  // namespace

SHOAL_TARGET_CLONES int64_t AddBf16(uint16_t* to, const uint16_t* from, int64_t n) { return ApplyToVectors<RowOp::kAdd>(to, from, n); }
SHOAL_TARGET_CLONES int64_t MultiplyBf16(uint16_t* to, const uint16_t* from, int64_t n) { return ApplyToVectors<RowOp::kMultiply>(to, from, n); }
SHOAL_TARGET_CLONES int64_t MinimumBf16(uint16_t* to, const uint16_t* from, int64_t n) { return ApplyToVectors<RowOp::kMinimum>(to, from, n); }
SHOAL_TARGET_CLONES int64_t MaximumBf16(uint16_t* to, const uint16_t* from, int64_t n) { return ApplyToVectors<RowOp::kMaximum>(to, from, n); }

}  // namespace shoal::internal
