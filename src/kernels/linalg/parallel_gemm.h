// Matrix products on the thread pool: tiles of large ones, several small ones to a task.
#pragma once

#include <span>

#include "core/base/thread_pool.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/skinny_gemm.h"

namespace shoal::internal {

// One of a batch: where its matrices begin.
struct GemmOffsets {
  int64_t a = 0, b = 0;
};

// For each i: the m by n matrix at c + i * m * n is the product of the matrices of a and b at places[i]; views are
// those of the first. The tiles depend on the sizes alone, so that any number of threads gives the same bits.
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                  std::span<const GemmOffsets> places, float* c, ThreadPool& pool);
// The same of f64.
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b,
                  std::span<const GemmOffsets> places, double* c, ThreadPool& pool);
// The same of integers of 32 bits, which wrap.
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<uint32_t> a, MatrixView<uint32_t> b,
                  std::span<const GemmOffsets> places, uint32_t* c, ThreadPool& pool);

// One product in this thread, by the quickest library there is: into c, or added to what is there.
void AddGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool add);

// The same of signed bytes, whose sums of 32 bits wrap. False, and nothing done, where the CPU has no instructions for it.
bool ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<int8_t> a, MatrixView<int8_t> b,
                  std::span<const GemmOffsets> places, int32_t* c, ThreadPool& pool);

// The same of bf16, summed in f32. False, and nothing done, where the CPU has no instructions for it.
bool ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<Bf16> a, MatrixView<Bf16> b,
                  std::span<const GemmOffsets> places, float* c, ThreadPool& pool);

}  // namespace shoal::internal
