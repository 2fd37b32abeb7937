// Products of very small matrices of f32, of which there are many: 3 by 3 and the like.
#pragma once

#include <span>

#include "kernels/linalg/parallel_gemm.h"

namespace shoal::internal {

constexpr int64_t kTiny = 128, kMaxTinyColumns = 8;  // multiplications, columns of b

// The matrices of c lie one after the other.
void TinyGemms(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, std::span<const GemmOffsets> places,
               float* c);

}  // namespace shoal::internal
