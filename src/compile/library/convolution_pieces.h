// Expresses an HLO convolution as a oneDNN convolution and splits it for the threads of a pool.
#pragma once

#include <optional>

#include "core/ops/contraction.h"
#include "kernels/linalg/onednn.h"

namespace shoal::internal {

// The oneDNN convolution that computes an instruction: one of three kinds, which determine the roles of the arrays.
//   kForward: the same convolution.
//   kBackwardData: the input is dilated (the data gradient of a strided convolution).
//   kBackwardWeights: the window is about as large as the input (a weight gradient), or there are batch groups.
struct DnnForm {
  DnnConvolution convolution;
  bool flips_kernel = false;  // reverse the spatial dimensions of the kernel
  int64_t source_offset = 0;  // offset of the source in its array, in elements
};

// Returns nothing if oneDNN cannot express the convolution.
std::optional<DnnForm> DnnFormOf(const Instruction& hlo);

// One part: a convolution of a part of the batch or of some rows of the result, and the offsets of its arrays.
struct DnnPart {
  DnnConvolution convolution;
  int64_t source = 0, result = 0;  // elements
};

// Splits a convolution into independent parts, whose number depends only on the sizes. For kBackwardWeights, the
// results of the parts must be added in order.
std::vector<DnnPart> SplitConvolution(const DnnConvolution& convolution);

}  // namespace shoal::internal
