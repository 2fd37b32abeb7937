// Maximum and minimum of floats, for elements and for folds alike: nan wins; 0 is more than -0.
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
