#include "kernels/linalg/gemm.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace shoal::internal {
namespace {

// Each thread multiplies a matrix filled with its own number by a matrix of ones. Data of other threads would show.
TEST(Gemm, ConcurrentGemmsAreIndependent) {
  constexpr int kThreads = 4, kGemms = 5000;
  constexpr size_t kSize = 104;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 1; t <= kThreads; ++t)
    threads.emplace_back([&wrong, own = static_cast<float>(t)] {
      std::vector<float> a(kSize * kSize, own), b(kSize * kSize, 1), c(kSize * kSize);
      for (int i = 0; i < kGemms; ++i) {
        Gemm<float>(kSize, kSize, kSize, {a.data(), kSize, 1}, {b.data(), kSize, 1}, c.data(), kSize, false);
        wrong += std::any_of(c.begin(), c.end(), [&](float x) { return x != own * kSize; });
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Sanitizers need the whole address space.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// OpenBLAS itself would retry the allocation forever.
TEST(Gemm, ThrowsIfMemoryIsExhausted) {
  constexpr size_t kSize = 128;
  std::vector<float> a(kSize * kSize, 1), b(kSize * kSize, 1), c(kSize * kSize);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &none);
    try {
      Gemm<float>(kSize, kSize, kSize, {a.data(), kSize, 1}, {b.data(), kSize, 1}, c.data(), kSize, false);
    } catch (const std::bad_alloc&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}
#endif

}  // namespace
}  // namespace shoal::internal
