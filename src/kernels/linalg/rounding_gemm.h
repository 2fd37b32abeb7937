// GEMM of bf16 as XLA:CPU computes it without a library: rounds every product and every sum to bf16.
#pragma once

#include "kernels/linalg/gemm.h"

namespace shoal::internal {

// c[i * n + j] = Σ over p < k, in this order, of a(i, p) * b(p, j). The numbers are the bits of bf16; any strides.
void GemmRoundingEachStep(int64_t m, int64_t n, int64_t k, MatrixView<uint16_t> a, MatrixView<uint16_t> b, uint16_t* c);

}  // namespace shoal::internal
