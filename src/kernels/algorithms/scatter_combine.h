// Combines an update with an element, or a row of updates with a row of elements: the inner loops of a scatter.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/arrays/bf16_rows.h"
#include "kernels/arrays/floats.h"

namespace shoal::internal {

enum class Combiner : uint8_t { kAssign, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kNone };

// A float of sixteen bits, for which ops compute in f32 and round each result.
template <ElementType type>
struct Narrow {
  static constexpr ElementType kType = type;
  uint16_t bits;

  float Value() const {
    if constexpr (type == ElementType::kBf16) return FromBf16(bits);
    float value = 0;
    DecodeFloats(type, reinterpret_cast<const std::byte*>(&bits), &value, 1);
    return value;
  }
  static Narrow Of(float value) {
    if constexpr (type == ElementType::kBf16) return {ToBf16(value)};
    Narrow narrow;
    EncodeFloats(type, &value, reinterpret_cast<std::byte*>(&narrow.bits), 1);
    return narrow;
  }
};

// fold(a, b) for two elements or two vectors of elements.
template <Combiner fold, bool is_float, class V>
[[gnu::always_inline]] inline V Combined(V a, V b) {
  if constexpr (fold == Combiner::kAdd) return a + b;
  if constexpr (fold == Combiner::kMultiply) return a * b;
  // One instruction for numbers; NaN propagates.
  if constexpr (fold == Combiner::kMinimum && is_float) {
    const V smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
  if constexpr (fold == Combiner::kMaximum && is_float) {
    const V larger = a > b ? a : b;
    return a != a ? a : larger;
  }
  if constexpr (fold == Combiner::kMinimum) return a < b ? a : b;
  if constexpr (fold == Combiner::kMaximum) return a > b ? a : b;
  if constexpr (fold == Combiner::kAnd && !is_float) return a & b;
  if constexpr (fold == Combiner::kOr && !is_float) return a | b;
  return b;
}

template <Combiner fold, class T>
[[gnu::always_inline]] inline void FoldElement(T& to, const T& from) {
  if constexpr (fold == Combiner::kAssign) {
    to = from;
  } else if constexpr (std::is_class_v<T>) {
    to = T::Of(Combined<fold, true>(to.Value(), from.Value()));
  } else if constexpr (std::is_floating_point_v<T>) {
    to = Combined<fold, true>(to, from);
  } else {
    // Sums and products of integers wrap, which C++ defines only for unsigned types.
    using Unsigned = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    using Plain = std::conditional_t<fold == Combiner::kAdd || fold == Combiner::kMultiply, Unsigned, T>;
    to = static_cast<T>(Combined<fold, false>(static_cast<Plain>(to), static_cast<Plain>(from)));
  }
}

template <Combiner fold, class T>
void FoldBf16Row(T* to, const T* from, int64_t n) {
  auto* out = reinterpret_cast<uint16_t*>(to);
  const auto* in = reinterpret_cast<const uint16_t*>(from);
  int64_t i = 0;
  if constexpr (fold == Combiner::kAdd) i = AddBf16(out, in, n);
  if constexpr (fold == Combiner::kMultiply) i = MultiplyBf16(out, in, n);
  if constexpr (fold == Combiner::kMinimum) i = MinimumBf16(out, in, n);
  if constexpr (fold == Combiner::kMaximum) i = MaximumBf16(out, in, n);
  for (; i < n; ++i) FoldElement<fold>(to[i], from[i]);
}

template <Combiner fold, class T>
[[gnu::always_inline]] inline void FoldNarrowRow(T* to, const T* from, int64_t n) {
  constexpr int64_t kBlock = 256;
  float a[kBlock], b[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    DecodeFloats(T::kType, reinterpret_cast<const std::byte*>(to + i), a, count);
    DecodeFloats(T::kType, reinterpret_cast<const std::byte*>(from + i), b, count);
    for (int64_t k = 0; k < count; ++k) a[k] = Combined<fold, true>(a[k], b[k]);
    EncodeFloats(T::kType, a, reinterpret_cast<std::byte*>(to + i), count);
  }
}

template <Combiner fold, class T>
[[gnu::always_inline]] inline void FoldRow(T* to, const T* from, int64_t n) {
  if constexpr (fold == Combiner::kAssign) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if constexpr (std::is_same_v<T, Narrow<ElementType::kBf16>>) {
    FoldBf16Row<fold>(to, from, n);
  } else if constexpr (std::is_class_v<T>) {
    FoldNarrowRow<fold>(to, from, n);
  } else {
    using Wraps = std::bool_constant<std::is_integral_v<T> && (fold == Combiner::kAdd || fold == Combiner::kMultiply)>;
    using Plain = typename std::conditional_t<Wraps::value, std::make_unsigned<T>, std::type_identity<T>>::type;
    typedef Plain Vector __attribute__((vector_size(16)));
    typedef Vector Unaligned __attribute__((aligned(alignof(T)), may_alias));
    constexpr int64_t kLanes = 16 / sizeof(T);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      const Vector a = *reinterpret_cast<const Unaligned*>(to + i), b = *reinterpret_cast<const Unaligned*>(from + i);
      *reinterpret_cast<Unaligned*>(to + i) = Combined<fold, std::is_floating_point_v<T>>(a, b);
    }
    for (; i < n; ++i) FoldElement<fold>(to[i], from[i]);
  }
}

}  // namespace shoal::internal
