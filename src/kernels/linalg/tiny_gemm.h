// Batches of GEMMs of very small f32 matrices, such as 3 by 3.
#pragma once

#include <span>

#include "kernels/linalg/parallel_gemm.h"

namespace shoal::internal {

constexpr int64_t kMaxTinyWork = 128, kMaxTinyColumns = 8;  // multiplications, columns of b

// The matrices of c are contiguous.
void TinyGemms(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, std::span<const GemmOffsets> offsets,
               float* c);

}  // namespace shoal::internal
