// ThreadPool: the one pool of a process. Devices, steps and library kernels share it, so that there are never more
// threads at work than the machine has cores.
//
// How to use it from a kernel:
//
//     void Scale(std::span<float> x, float by, ThreadPool& pool) {
//       ForBlocks(pool, std::ssize(x), 1 << 14, [&](int64_t begin, int64_t end) {
//         for (int64_t i = begin; i < end; ++i) x[i] *= by;
//       });
//     }
//
// The rules:
//   - Results must not depend on the number of threads. Cut the work by the shape of the data alone (as ForBlocks does),
//     never by threads(), wherever the cut changes what is computed, as it does for partial sums.
//   - A task runs to its end; it may not wait for another task. A task that calls Run itself gets its tasks done on its
//     own thread and by whoever is free: that is allowed, and cannot deadlock.
//   - Libraries are called with one thread of theirs inside a task. Two runtimes that both spin cost a hundred times
//     what they save.
//   - Tasks of about 10 µs and more pay: handing one over costs about half a microsecond while the workers spin, and
//     50 to 90 µs when they have gone to sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace shoal::internal {

class ThreadPool {
 public:
  // `threads` work at a time, of which one is whoever calls Run; 0: as many as the machine has cores.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // There is room for workers again: those that sleep look whether there is work for them (core/base/active_threads.h).
  void WakeForJobs();

  // task(i) for every i in [0, count), on this thread and on workers that are free; returns when all are done. Several
  // threads may call at once.
  template <class Task>
  void Run(int64_t count, Task&& task) {
    if (count <= 0) return;
    if (count == 1 || workers_.empty()) {
      for (int64_t i = 0; i < count; ++i) task(i);
      return;
    }
    using Plain = std::remove_reference_t<Task>;
    Job job;
    job.count = count;
    job.context = const_cast<void*>(static_cast<const void*>(&task));
    job.call = [](void* context, int64_t i) { (*static_cast<Plain*>(context))(i); };
    RunJob(job);
  }

 private:
  struct Job {
    int64_t count = 0;
    void* context = nullptr;
    void (*call)(void* context, int64_t i) = nullptr;
    std::atomic<int64_t> next = 0;
    std::atomic<int> helpers = 0;  // workers that are in it; only raised under the pool's mutex
  };

  void RunJob(Job& job);
  void Work();
  static void TakeTasks(Job& job);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job*> jobs_;             // those that may have tasks left
  std::atomic<int> open_jobs_ = 0;     // jobs_.size(), to be looked at without the mutex
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> stopping_ = false;
};

// task(begin, end) for blocks of `block` elements that cover [0, count): the same blocks for any number of threads.
template <class Task>
void ForBlocks(ThreadPool& pool, int64_t count, int64_t block, Task&& task) {
  pool.Run((count + block - 1) / block, [&](int64_t i) {
    const int64_t begin = i * block;
    task(begin, begin + block < count ? begin + block : count);
  });
}

}  // namespace shoal::internal
