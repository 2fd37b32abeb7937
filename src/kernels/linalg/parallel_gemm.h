// GEMM on the thread pool: large matrices are split into tiles, and several small ones share a task.
#pragma once

#include <span>

#include "core/base/thread_pool.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/skinny_gemm.h"

namespace shoal::internal {

// The offsets of the matrices of one GEMM in a batch, in elements.
struct GemmOffsets {
  int64_t a = 0, b = 0;
};

// For each i, writes the product of the matrices of a and b at offsets[i] to the m by n matrix at c + i * m * n. The
// views have offset 0. The tiles depend only on the sizes, so any number of threads yields the same bits.
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                  std::span<const GemmOffsets> offsets, float* c, ThreadPool& pool);
// ParallelGemm for f64, complex numbers and 64-bit integers, whose sums wrap.
template <class T>
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, std::span<const GemmOffsets> offsets, T* c,
                  ThreadPool& pool);
// ParallelGemm for 32-bit integers. Sums wrap.
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<uint32_t> a, MatrixView<uint32_t> b,
                  std::span<const GemmOffsets> offsets, uint32_t* c, ThreadPool& pool);

// One GEMM in this thread, by the fastest library available. The result replaces c, or is added to c if `add`.
void AddGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool add);

// ParallelGemm for signed bytes, with wrapping 32-bit sums. Returns false and does nothing if the CPU lacks the
// instructions.
bool ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<int8_t> a, MatrixView<int8_t> b,
                  std::span<const GemmOffsets> offsets, int32_t* c, ThreadPool& pool);

// ParallelGemm for bf16, summed in f32. Returns false and does nothing if the CPU lacks the instructions.
bool ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<Bf16> a, MatrixView<Bf16> b,
                  std::span<const GemmOffsets> offsets, float* c, ThreadPool& pool);

}  // namespace shoal::internal
