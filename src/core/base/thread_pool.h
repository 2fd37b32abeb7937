// ThreadPool: the threads of the runs and compilations that share it. Devices, instructions and library kernels use the
// same pool, so that no more threads run than the machine has cores.
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
//   - Results must not depend on the number of threads. Where the split affects the result, as for partial sums, split
//     the work only by the shape of the data (as ForBlocks does), never by threads().
//   - A task runs to completion; it may not wait for another task. A task may call Run: the nested tasks run on its own
//     thread and on idle workers, so this cannot deadlock.
//   - A task calls libraries single-threaded: two spinning runtimes would cost a hundred times what they save.
//   - Tasks should take at least about 10 µs: passing one to a worker costs about half a microsecond while the workers
//     spin, and 50 to 90 µs when they sleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace shoal::internal {

class ThreadPool {
 public:
  // `threads` includes the thread that calls Run; 0: the number of cores of the machine. If the system does not start
  // as many threads, the pool works with fewer.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // True if the system did not start all threads.
  bool lacks_threads() const { return lacks_threads_; }
  // Called when a thread outside the pool starts or stops running, such as the thread of a device that waits. The pool
  // runs only as many workers as there are free cores: a worker without a core of its own would slow down the others.
  void AddActiveThread() { active_threads_.fetch_add(1); }
  void RemoveActiveThread();

  // Calls task(i) for every i in [0, count), on this thread and on idle workers; returns when all are done. Several
  // threads may call Run concurrently.
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
    alignas(64) std::atomic<int64_t> next = 0;
    alignas(64) std::atomic<int> helpers = 0;  // workers that run this job; incremented only under lock_
    std::atomic<int> vacancies = 0;            // workers that may still join; changed only under lock_
  };

  // For critical sections of a few instructions: a mutex would put threads to sleep when many workers finish simultaneously.
  class SpinLock {
   public:
    void lock();
    void unlock() { is_locked_.store(false, std::memory_order_release); }

   private:
    std::atomic<bool> is_locked_ = false;
  };

  struct Worker {
    std::mutex mutex;
    std::condition_variable wake;
    bool is_woken = false;
    std::optional<std::jthread> thread;  // last, because its thread uses the other members
  };

  // Workers that may be busy. One of the pool's threads is the caller of Run, counted as active or not.
  int MaxWorkers() const { return threads() - std::max(1, active_threads_.load(std::memory_order_relaxed)); }
  bool HasFreeCore() const { return busy_workers_.load(std::memory_order_relaxed) < MaxWorkers(); }
  bool HasVacancy() const { return vacancies_.load(std::memory_order_acquire) > 0 && HasFreeCore(); }
  void RunJob(Job& job);
  void Close(Job& job);
  void WakeSleepers();
  void WorkerLoop(Worker& self);
  Job* Join();
  bool FallAsleep(Worker& self);
  static void RunTasks(Job& job);

  std::vector<std::unique_ptr<Worker>> workers_;
  bool lacks_threads_ = false;
  SpinLock lock_;                  // guards jobs_ and sleepers_
  std::vector<Job*> jobs_;         // jobs that may have tasks left
  std::vector<Worker*> sleepers_;  // the last one fell asleep last
  alignas(64) std::atomic<int> vacancies_ = 0;  // the sum over all jobs, less those of workers that are about to join
  std::atomic<int> sleeping_ = 0;               // sleepers_.size(), readable without the lock
  std::atomic<int> active_threads_ = 0;         // counted by AddActiveThread
  std::atomic<int> busy_workers_ = 0;           // workers that run a job
  std::atomic<bool> stopping_ = false;
};

// Calls task(begin, end) for blocks of `block` elements that cover [0, count), independent of the number of threads.
template <class Task>
void ForBlocks(ThreadPool& pool, int64_t count, int64_t block, Task&& task) {
  pool.Run((count + block - 1) / block, [&](int64_t i) {
    const int64_t begin = i * block;
    task(begin, begin + block < count ? begin + block : count);
  });
}

}  // namespace shoal::internal
