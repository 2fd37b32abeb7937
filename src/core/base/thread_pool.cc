#include "core/base/thread_pool.h"

#include <algorithm>

#include "core/base/task_log.h"
#include "core/base/threads.h"

namespace shoal::internal {
namespace {

// About 50 µs: long enough for the next instruction to arrive, short enough not to waste energy.
constexpr int kSpins = 2000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

// Wakes workers only if there are jobs: devices wait at every collective, and waking an idle worker each time would
// cost more than it saves. No wake-up is lost: a worker that found no job holds the mutex until it sleeps.
void ThreadPool::RemoveActiveThread() {
  active_threads_.fetch_sub(1);
  std::lock_guard lock(mutex_);
  if (!jobs_.empty()) wake_.notify_all();
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::lock_guard lock(mutex_);  // workers read workers_.size()
  workers_.reserve(static_cast<size_t>(threads));
  for (int i = 1; i < threads && !lacks_threads_; ++i) {
    std::optional<std::jthread> worker = StartThread([this] { WorkerLoop(); });
    lacks_threads_ = !worker.has_value();
    if (worker) workers_.push_back(std::move(*worker));
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  workers_.clear();  // joins them
}

void ThreadPool::RunTasks(Job& job) {
  for (;;) {
    const int64_t i = job.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count) return;
    job.call(job.context, i);
  }
}

void ThreadPool::RunJob(Job& job) {
  if (TaskLog* log = TaskLog::Get(); log != nullptr && log->RunJob(*this, job.count, job.context, job.call)) return;
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
  }
  if (const int sleepers = sleepers_.load(std::memory_order_acquire); sleepers > 0 && HasFreeCore()) {
    // Wakes no more workers than there are tasks for: each wake-up takes this thread about a microsecond.
    if (job.count > sleepers)
      wake_.notify_all();
    else
      for (int64_t i = 1; i < job.count; ++i) wake_.notify_one();
  }
  RunTasks(job);
  {
    std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
    open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
  }
  // No worker can join any more. The acquire pairs with the release of each helper, so its writes are visible.
  for (int spins = 0; job.helpers.load(std::memory_order_acquire) != 0; ++spins)
    spins < kSpins ? Pause() : std::this_thread::yield();
}

void ThreadPool::WorkerLoop() {
  for (;;) {
    for (int spins = 0; spins < kSpins && open_jobs_.load(std::memory_order_acquire) == 0; ++spins) Pause();
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [this] { return stopping_ || (!jobs_.empty() && HasFreeCore()); };
      if (!has_work()) {
        sleepers_.fetch_add(1);
        wake_.wait(lock, has_work);
        sleepers_.fetch_sub(1);
      }
      if (jobs_.empty()) return;  // stopping
      job = jobs_.front();
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      busy_workers_.fetch_add(1, std::memory_order_relaxed);
    }
    RunTasks(*job);
    busy_workers_.fetch_sub(1, std::memory_order_relaxed);
    {
      // This job has no tasks left: let the next worker take the next job.
      std::lock_guard lock(mutex_);
      std::erase(jobs_, job);
      open_jobs_.store(static_cast<int>(jobs_.size()), std::memory_order_release);
    }
    job->helpers.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace shoal::internal
