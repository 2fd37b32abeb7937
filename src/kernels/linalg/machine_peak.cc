#include "kernels/linalg/machine_peak.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace shoal::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLanes = 16, kChains = 12;

// Twelve independent chains hide the latency of a multiplication and an addition.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#endif
float MultiplyAndAdd(int64_t iterations, float value) {
  typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
  Vector sums[kChains] = {};
  Vector factor = {};
  factor += value;
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 12  // keeps the sums in registers
    for (int k = 0; k < kChains; ++k) sums[k] = sums[k] * factor + factor;
  }
  float all = 0;
  for (const Vector& sum : sums) all += sum[0];
  return all;
}

template <class Task>
double ShortestSeconds(int repetitions, const Task& task) {
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    task();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace

MachinePeak MeasurePeak(ThreadPool& pool) {
  MachinePeak peak;
  constexpr int64_t kIterations = 100'000;
  std::vector<float> sums(static_cast<size_t>(pool.threads()));
  const double compute_seconds = ShortestSeconds(3, [&] {
    pool.Run(pool.threads(), [&](int64_t i) { sums[static_cast<size_t>(i)] = MultiplyAndAdd(kIterations, 0.5f); });
  });
  peak.flops = 2.0 * kLanes * kChains * kIterations * pool.threads() / compute_seconds;

  constexpr int64_t kBytes = int64_t{64} << 20, kBlock = int64_t{1} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  const double copy_seconds = ShortestSeconds(3, [&] {
    ForBlocks(pool, kBytes, kBlock, [&](int64_t begin, int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<size_t>(end - begin));
    });
  });
  peak.bytes = 2.0 * kBytes / copy_seconds;
  return peak;
}

}  // namespace shoal::internal
