// Saturating arithmetic for sizes, counts and costs: an untrusted module may declare any size, so plain arithmetic
// could overflow. `check` reports the shape that is too large; an allocation of a saturated size is refused.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "core/ir/shape.h"

namespace shoal::internal {

inline constexpr int64_t kSizeOverflow = std::numeric_limits<int64_t>::max();

// Upper bound of the number of devices; a larger number in a file is malformed and could exhaust memory.
inline constexpr int64_t kLargestCluster = int64_t{1} << 24;

inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : kSizeOverflow;
}

inline int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min() : kSizeOverflow;
}

// `count` (at least 0) divided by `size` (at least 1), rounded up; cannot overflow.
inline int64_t CeilDiv(int64_t count, int64_t size) { return count / size + (count % size != 0 ? 1 : 0); }
// Rounds up to a multiple of `multiple`, which is at least 1.
inline int64_t RoundUp(int64_t count, int64_t multiple) { return SaturatingMul(CeilDiv(count, multiple), multiple); }

// The saturating product; 0 if any factor is 0.
int64_t SaturatingProduct(Ints factors);
inline int64_t SaturatingProduct(std::initializer_list<int64_t> factors) {
  return SaturatingProduct(Ints(factors.begin(), factors.size()));
}

// Elements of an array, with dynamic dimensions at their bounds and unbounded ones ignored; 1 for other shapes.
int64_t ElementCountOf(const Shape& shape);
// Bytes of the arrays in `shape` on the host: each element in whole bytes, without padding.
int64_t HostBytesOf(const Shape& shape);
// True if the size in bytes of an array in `shape`, or of all its arrays together, overflows.
inline bool SizeOverflows(const Shape& shape) { return HostBytesOf(shape) == kSizeOverflow; }

}  // namespace shoal::internal
