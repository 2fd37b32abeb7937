// cuDNN's convolutions of 8-bit integers keep features in vectors of 4 or 32: input, filter and result have a dimension
// more than dim_labels name, which holds the minor part of the feature.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

// Whether a forward convolution is of such arrays, or says that its filter was reordered, which only they can be.
bool IsInVectors(const Call& call);
// The convolution of the same arrays without vectors, which is for `plain` to compute, put into vectors again.
Result<Value> ConvolutionInVectors(Call& call, Evaluator plain);

}  // namespace shoal::internal
