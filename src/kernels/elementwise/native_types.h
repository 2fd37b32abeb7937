// The C++ types in which ops compute. Narrow floats are widened to f32; integers narrower than a byte take a byte.
#pragma once

#include <complex>
#include <cstdint>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/ir/element_type.h"

namespace shoal::internal {

using NativeTypes = std::tuple<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float,
                               double, std::complex<float>, std::complex<double>>;
inline constexpr size_t kNativeCount = std::tuple_size_v<NativeTypes>;

// The index of the type that computes `type`: the type itself, f32 for narrow floats, eight bits for narrower integers.
inline size_t NativeIndex(ElementType type) {
  const auto& info = Info(type);
  const size_t width = info.bits <= 8 ? 0 : info.bits == 16 ? 1 : info.bits == 32 ? 2 : 3;
  switch (info.cls) {
    case TypeClass::kBool:
      return 0;
    case TypeClass::kSigned:
      return 1 + width;
    case TypeClass::kUnsigned:
      return 5 + width;
    case TypeClass::kFloat:
      return info.bits == 64 ? 10 : 9;
    case TypeClass::kComplex:
      return info.bits == 64 ? 11 : 12;
    default:
      SHOAL_CHECK(false, "the element type is not numeric");
  }
}

// Calls f.operator()<T>() with the C++ type that computes `type`.
template <class F>
decltype(auto) WithNativeType(ElementType type, F&& f) {
  using R = decltype(f.template operator()<bool>());
  return [&]<size_t... i>(std::index_sequence<i...>)->R {
    using Case = R (*)(F&);
    static constexpr Case kCases[] = {
        [](F& g) -> R { return g.template operator()<std::tuple_element_t<i, NativeTypes>>(); }...};
    return kCases[NativeIndex(type)](f);
  }
  (std::make_index_sequence<kNativeCount>());
}

}  // namespace shoal::internal
