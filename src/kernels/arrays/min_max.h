// IEEE 754-2019 maximum and minimum, for elementwise ops and reductions: NaN propagates; 0 is greater than -0.
#pragma once

#include <cmath>
#include <concepts>

namespace shoal::internal {

template <std::floating_point T>
T PropagatingMax(T x, T y) {
  if (x > y || std::isnan(x)) return x;
  return x == y && !std::signbit(x) ? x : y;
}

template <std::floating_point T>
T PropagatingMin(T x, T y) {
  if (x < y || std::isnan(x)) return x;
  return x == y && std::signbit(x) ? x : y;
}

}  // namespace shoal::internal
