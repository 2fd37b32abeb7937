// GEMM of matrices so small that a library call costs more than the work itself, or of types that no library supports.
#pragma once

#include "kernels/linalg/gemm.h"

namespace shoal::internal {

// c[i * n + j] = Σ a(i, p) b(p, j), summed in the order of p, identically for every element. Integers wrap.
void SmallGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c);
void SmallGemm(int64_t m, int64_t n, int64_t k, MatrixView<uint32_t> a, MatrixView<uint32_t> b, uint32_t* c);

}  // namespace shoal::internal
