#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace shoal {
namespace {

// Each thread multiplies a matrix of its own number with one of ones: a product that meets another one's data shows.
TEST(Gemm, ProductsOfSeveralThreadsDoNotMeet) {
  constexpr int kThreads = 4, kProducts = 5000;
  constexpr size_t kSize = 104;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 1; t <= kThreads; ++t)
    threads.emplace_back([&wrong, own = static_cast<float>(t)] {
      std::vector<float> a(kSize * kSize, own), b(kSize * kSize, 1), c(kSize * kSize);
      for (int i = 0; i < kProducts; ++i) {
        Gemm<float>(kSize, kSize, kSize, {a.data(), kSize, 1}, {b.data(), kSize, 1}, c.data(), kSize, false);
        wrong += std::any_of(c.begin(), c.end(), [&](float x) { return x != own * kSize; });
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace shoal
