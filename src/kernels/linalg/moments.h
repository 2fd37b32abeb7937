// Mean and variance of a row, shared by the layer normalisations of libraries.
#pragma once

#include <cmath>
#include <span>

namespace shoal::internal {

struct Moments {
  float mean = 0;
  float norm_factor = 0;  // 1 / sqrt(variance + epsilon)
};

inline Moments MomentsOf(std::span<const float> row, double epsilon) {
  double mean = 0, variance = 0;
  for (float x : row) mean += x;
  mean /= static_cast<double>(row.size());
  for (float x : row) variance += (x - mean) * (x - mean);
  variance /= static_cast<double>(row.size());
  return {static_cast<float>(mean), static_cast<float>(1 / std::sqrt(variance + epsilon))};
}

}  // namespace shoal::internal
