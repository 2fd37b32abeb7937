// cuDNN's convolutions of 8-bit integers store features in vectors of 4 or 32. Input, filter and result have one more
// dimension than dim_labels name. That dimension holds the minor part of the feature.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// True for a forward convolution of vectorized arrays, or with a reordered filter, which is always vectorized.
bool IsVectorized(const Call& call);
// Merges the vectors into the feature, calls `plain` for the convolution, and splits the result into vectors again.
Result<Value> VectorizedConvolution(Call& call, Evaluator plain);

}  // namespace shoal::internal
