// Transforms of the last dimensions of an array, as the op fft has them.
#pragma once

#include "core/ops/linear_algebra.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// Of every box of `length` in `in`; the last dimension of a real transform has half of its elements on the complex side.
// Computed in f64.
void TransformBatches(FftType type, Ints length, const Array& in, Array& out);

}  // namespace shoal::internal
