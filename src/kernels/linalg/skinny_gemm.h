// GEMM with few rows, which runs at the speed of memory.
#pragma once

#include "core/base/thread_pool.h"
#include "kernels/linalg/gemm.h"

namespace shoal::internal {

struct Bf16 {
  uint16_t bits;
};

constexpr int64_t kMaxSkinnyRows = 4;  // rows
// Below this number of multiplications, a library call costs more than it saves.
constexpr int64_t kMinLibraryWork = int64_t{1} << 18;

// c = a b, with b read in place. Returns false and does nothing if the layouts of a and b do not allow that.
bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, ThreadPool& pool);
bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<Bf16> b, float* c, ThreadPool& pool);

}  // namespace shoal::internal
