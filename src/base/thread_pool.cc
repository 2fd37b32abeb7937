#include "base/thread_pool.h"

#include <algorithm>

namespace shoal {
namespace {

// About 50 µs: long enough for the next step of a program to come, short enough not to heat the room.
constexpr int kSpins = 2000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::TakeTasks(Job& job) {
  for (;;) {
    const int64_t i = job.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count) return;
    job.call(job.context, i);
  }
}

void ThreadPool::RunJob(Job& job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
  }
  if (sleepers_.load(std::memory_order_acquire) > 0) {
    job.count > 2 ? wake_.notify_all() : wake_.notify_one();
  }
  TakeTasks(job);
  {
    std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
    open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
  }
  // Nobody joins any more. The acquire pairs with the release of each helper: what it wrote is there.
  for (int spins = 0; job.helpers.load(std::memory_order_acquire) != 0; ++spins)
    spins < kSpins ? Pause() : std::this_thread::yield();
}

void ThreadPool::Work() {
  for (;;) {
    for (int spins = 0; spins < kSpins && open_jobs_.load(std::memory_order_acquire) == 0; ++spins) Pause();
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      if (jobs_.empty() && !stopping_) {
        sleepers_.fetch_add(1);
        wake_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
        sleepers_.fetch_sub(1);
      }
      if (jobs_.empty()) return;  // stopping
      job = jobs_.front();
      job->helpers.fetch_add(1, std::memory_order_relaxed);
    }
    TakeTasks(*job);
    {
      // It has no tasks left: the next worker should look at the next job.
      std::lock_guard lock(mutex_);
      std::erase(jobs_, job);
      open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
    }
    job->helpers.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace shoal
