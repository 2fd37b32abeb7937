// Fourier transforms of the last dimensions of an array, as the op fft defines them.
#pragma once

#include "core/ops/linear_algebra.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// Transforms every box of `length` in `in`. In a real transform the complex side has only the first half of the last
// dimension. Computes in f64.
void TransformBatches(FftType type, Ints length, const Array& in, Array& out);

}  // namespace shoal::internal
