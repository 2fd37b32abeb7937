// Convolution of arrays with a fixed order of dimensions, by GEMMs of tiles of patches (im2col).
#pragma once

#include <vector>

#include "core/ir/attr.h"

namespace shoal::internal {

struct SpatialDim {
  int64_t input = 1, kernel = 1, output = 1;  // sizes
  WindowDim window;
};

// input [batch_groups, batch, spatial…, feature_groups, features], kernel [spatial…, features, groups, outputs] and
// result [batch, spatial…, groups, outputs]. At most one kind of group is used.
struct ConvolutionSizes {
  std::vector<SpatialDim> spatial;
  int64_t batch = 1, features = 1, outputs = 1;
  int64_t feature_groups = 1, batch_groups = 1;

  int64_t groups() const { return feature_groups * batch_groups; }
};

// T is float, double, std::complex of either, or an unsigned integer, as for Gemm.
template <class T>
void Convolve(const ConvolutionSizes& sizes, const T* input, const T* kernel, T* out);

}  // namespace shoal::internal
