// Maximum and minimum of floats, for elements and for folds alike: nan wins; 0 is more than -0.
#pragma once

#include <cmath>
#include <concepts>

namespace shoal {

template <std::floating_point T>
T MaximumOf(T x, T y) {
  if (x > y || std::isnan(x)) return x;
  return x == y && !std::signbit(x) ? x : y;
}

template <std::floating_point T>
T MinimumOf(T x, T y) {
  if (x < y || std::isnan(x)) return x;
  return x == y && std::signbit(x) ? x : y;
}

}  // namespace shoal
