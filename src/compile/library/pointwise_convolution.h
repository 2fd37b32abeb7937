// Convolutions whose window is a single place: products of matrices, which lie in the arrays as they are.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/contraction.h"
#include "kernels/linalg/parallel_gemm.h"

namespace shoal::internal {

// The product that gives such a convolution, with strides in elements. Rows and columns of the result lie as the
// convolution's result does.
struct PointwiseGemm {
  int64_t m = 1, n = 1, k = 1;
  bool kernel_is_lhs = false;  // features come before places in the result
  int64_t a_row = 1, a_column = 1, b_row = 1, b_column = 1;
  std::vector<GemmOffsets> places;
};

// Nothing where the window is larger, has strides, padding, holes or groups, or where an array lies in another way.
std::optional<PointwiseGemm> PointwiseGemmOf(const Instruction& hlo);

}  // namespace shoal::internal
