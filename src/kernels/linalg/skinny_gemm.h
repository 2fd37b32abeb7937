// Products of few rows, which are read at the speed of memory.
#pragma once

#include "core/base/thread_pool.h"
#include "kernels/linalg/gemm.h"

namespace shoal::internal {

struct Bf16 {
  uint16_t bits;
};

constexpr int64_t kMaxSkinny = 4;  // rows
// Below this many multiplications a call of a library costs more than it saves.
constexpr int64_t kFewGemms = int64_t{1} << 18;

// c = a b, with b read as it is. False, and nothing done, where it is not laid out for that.
bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, ThreadPool& pool);
bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<Bf16> b, float* c, ThreadPool& pool);

}  // namespace shoal::internal
