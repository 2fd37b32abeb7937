// A convolution of HLO in oneDNN's words, cut into pieces for the threads of a pool.
#pragma once

#include <optional>

#include "core/ops/contraction.h"
#include "kernels/linalg/onednn.h"

namespace shoal::internal {

// How an instruction is computed: which of oneDNN's three kinds it is, and which of its arrays is which.
//   kForward: as it is.
//   kBackwardData: the base has holes (a data gradient of a convolution with strides).
//   kBackwardWeights: the window is as large as the base (a weight gradient), or the batch is divided into groups.
struct DnnForm {
  DnnConvolution convolution;
  bool flips_kernel = false;               // its spatial dimensions run the other way
  int64_t source_offset = 0;               // where the source begins in its array, in elements
};

// Nothing where oneDNN has no word for it.
std::optional<DnnForm> DnnFormOf(const Instruction& hlo);

// One piece: a convolution of a part of the batch, or of some rows of the result, and where its arrays begin.
struct DnnPiece {
  DnnConvolution convolution;
  int64_t source = 0, result = 0;  // elements
};

// Pieces that are independent of each other, or, of kBackwardWeights, whose results are to be added up in order. How many
// depends on the sizes alone.
std::vector<DnnPiece> PiecesOf(const DnnConvolution& convolution);

}  // namespace shoal::internal
