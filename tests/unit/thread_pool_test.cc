#include "core/base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace shoal::internal {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 5, 16}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 15, 1000}) {
      std::vector<int> runs(static_cast<size_t>(count));
      pool.Run(count, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
      EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), 0), count) << threads << " threads";
      for (int times : runs) EXPECT_EQ(times, 1);
    }
  }
}

// Several threads run jobs, which have nested jobs, while they stop and start to be active. Sometimes the workers sleep.
TEST(ThreadPool, SharedByThreadsThatStopAndStart) {
  constexpr int kCallers = 3, kJobs = 60, kTasks = 40, kNested = 5;
  for (int threads = 1; threads <= 9; ++threads) {
    ThreadPool pool(threads);
    std::atomic<int64_t> tasks = 0;
    auto call = [&](int caller) {
      pool.AddActiveThread();
      for (int job = 0; job < kJobs; ++job) {
        std::vector<int64_t> values(kTasks);
        pool.Run(kTasks, [&](int64_t i) {
          pool.Run(kNested, [&](int64_t) { ++tasks; });
          values[static_cast<size_t>(i)] = i;
        });
        EXPECT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), kTasks * (kTasks - 1) / 2);
        if (job % 20 != caller) continue;
        pool.RemoveActiveThread();
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        pool.AddActiveThread();
      }
      pool.RemoveActiveThread();
    };
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < kCallers; ++caller) callers.emplace_back(call, caller);
    callers.clear();
    EXPECT_EQ(tasks, kCallers * kJobs * kTasks * kNested);
  }
}

}  // namespace
}  // namespace shoal::internal
