// Convolutions with a window of one element: GEMMs that read the matrices directly from the operands.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/contraction.h"
#include "kernels/linalg/parallel_gemm.h"

namespace shoal::internal {

// The GEMMs that compute such a convolution, with strides in elements. They write directly to the result array.
struct PointwiseGemm {
  int64_t m = 1, n = 1, k = 1;
  bool kernel_is_lhs = false;  // the feature dimension of the result precedes the shared dimensions
  int64_t a_row = 1, a_column = 1, b_row = 1, b_column = 1;
  std::vector<GemmOffsets> offsets;
};

// Returns nothing if the window is larger, if there are strides, padding, dilations or groups, or if the layout of an
// array does not permit it.
std::optional<PointwiseGemm> PointwiseGemmOf(const Instruction& hlo);

}  // namespace shoal::internal
