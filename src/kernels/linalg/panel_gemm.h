// GEMM of narrow floats in f32 where one operand is large and the other has few rows or columns. The large operand is
// converted one panel at a time, in the cache, instead of being written to memory as f32 and read again.
#pragma once

#include "core/base/thread_pool.h"
#include "core/ir/element_type.h"

namespace shoal::internal {

// A matrix of floats of any width. One of the strides is 1.
struct FloatMatrix {
  ElementType type = ElementType::kF32;
  const std::byte* data = nullptr;
  int64_t row = 0, column = 1;
};

// c[i * n + j] = Σ over p < k of a(i, p) * b(p, j), in tasks that depend only on the sizes. Returns false and does
// nothing if converting both operands as a whole costs no more.
bool PanelGemm(int64_t m, int64_t n, int64_t k, const FloatMatrix& a, const FloatMatrix& b, float* c, ThreadPool& pool);

}  // namespace shoal::internal
