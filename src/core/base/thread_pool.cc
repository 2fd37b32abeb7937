#include "core/base/thread_pool.h"

#include <algorithm>

#include "core/base/active_threads.h"

namespace shoal::internal {
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

// Of all pools: whoever called AddActiveThread, and workers that are in a job.
std::atomic<int> callers = 0, helping = 0;
std::mutex pools_mutex;
std::vector<ThreadPool*> pools;

// Of a pool of so many threads, one of which is a caller, whether it said so or not.
int Room(int threads) { return threads - std::max(1, callers.load(std::memory_order_relaxed)); }
bool HasRoom(int threads) { return helping.load(std::memory_order_relaxed) < Room(threads); }

}  // namespace

void AddActiveThread() { callers.fetch_add(1); }

void RemoveActiveThread() {
  callers.fetch_sub(1);
  std::lock_guard lock(pools_mutex);
  for (ThreadPool* pool : pools) pool->WakeForJobs();
}

// Without jobs nobody is woken: devices wait at every collective, and a worker that finds nothing to do costs them more
// than it ever helps. A worker that has looked and is about to sleep holds the mutex until it does.
void ThreadPool::WakeForJobs() {
  std::lock_guard lock(mutex_);
  if (!jobs_.empty()) wake_.notify_all();
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  {
    std::lock_guard lock(pools_mutex);
    if (threads > 1) pools.push_back(this);
  }
  std::lock_guard lock(mutex_);  // workers look at how many they are
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(pools_mutex);
    std::erase(pools, this);
  }
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
  if (sleepers_.load(std::memory_order_acquire) > 0 && HasRoom(threads())) {
    job.count > 2 ? wake_.notify_all() : wake_.notify_one();
  }
  TakeTasks(job);
  {
    std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
    open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
  }
  // Nobody participants any more. The acquire pairs with the release of each helper: what it wrote is there.
  for (int spins = 0; job.helpers.load(std::memory_order_acquire) != 0; ++spins)
    spins < kSpins ? Pause() : std::this_thread::yield();
}

void ThreadPool::Work() {
  for (;;) {
    for (int spins = 0; spins < kSpins && open_jobs_.load(std::memory_order_acquire) == 0; ++spins) Pause();
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [this] { return stopping_ || (!jobs_.empty() && HasRoom(threads())); };
      if (!has_work()) {
        sleepers_.fetch_add(1);
        wake_.wait(lock, has_work);
        sleepers_.fetch_sub(1);
      }
      if (jobs_.empty()) return;  // stopping
      job = jobs_.front();
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      helping.fetch_add(1, std::memory_order_relaxed);
    }
    TakeTasks(*job);
    helping.fetch_sub(1, std::memory_order_relaxed);
    {
      // It has no tasks left: the next worker should look at the next job.
      std::lock_guard lock(mutex_);
      std::erase(jobs_, job);
      open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
    }
    job->helpers.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace shoal::internal
