// Sizes, counts and costs: a module can ask for any number, so that none of them may be computed with plain arithmetic.
// They stop at the largest (or lowest) number instead of going round; `check` says which shape was too large, and what
// is allocated by such a number is refused.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "core/ir/shape.h"

namespace shoal::internal {

inline constexpr int64_t kSizeOverflow = std::numeric_limits<int64_t>::max();

// No cluster has more; a larger number in a file is an attempt on our memory.
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

// How many parts of `size` (at least 1) hold `count` (at least 0) things; nothing overflows on the way.
inline int64_t CeilDiv(int64_t count, int64_t size) { return count / size + (count % size != 0 ? 1 : 0); }
// To a multiple, of at least 1.
inline int64_t RoundUp(int64_t count, int64_t multiple) { return SaturatingMul(CeilDiv(count, multiple), multiple); }

// A zero among them makes the product 0, whatever the others are.
int64_t SaturatingProduct(Ints factors);
inline int64_t SaturatingProduct(std::initializer_list<int64_t> factors) {
  return SaturatingProduct(Ints(factors.begin(), factors.size()));
}

// Elements of an array, with dynamic dimensions at their bounds and unbounded ones left out; 1 for what is no array.
int64_t ElementCountOf(const Shape& shape);
// Bytes of the arrays in it, each element in whole bytes as on the host, without padding.
int64_t HostBytesOf(const Shape& shape);
// An array in it has more bytes than can be counted, or all of them together do.
inline bool SizeOverflows(const Shape& shape) { return HostBytesOf(shape) == kSizeOverflow; }

}  // namespace shoal::internal
