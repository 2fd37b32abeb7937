#include "core/base/thread_pool.h"

#include <algorithm>

#include "core/base/task_log.h"
#include "core/base/threads.h"

namespace shoal::internal {
namespace {

// About 50 µs: long enough for the next instruction to arrive, short enough not to waste energy.
constexpr int kSpins = 2000;

// The number of workers that one thread wakes, which takes it about a microsecond each. Every woken worker wakes as many
// more, so that waking all workers of a large machine delays no thread for long.
constexpr int kWakesPerThread = 16;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

void ThreadPool::SpinLock::lock() {
  for (int spins = 0; is_locked_.exchange(true, std::memory_order_acquire);)
    while (is_locked_.load(std::memory_order_relaxed)) ++spins < kSpins ? Pause() : std::this_thread::yield();
}

// Wakes workers only if there are jobs: devices wait at every collective, and waking an idle worker each time would
// cost more than it saves.
void ThreadPool::RemoveActiveThread() {
  active_threads_.fetch_sub(1);
  WakeSleepers();
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::lock_guard lock(lock_);  // workers read workers_.size()
  for (int i = 1; i < threads && !lacks_threads_; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->thread = StartThread([this, worker = worker.get()] { WorkerLoop(*worker); });
    lacks_threads_ = !worker->thread.has_value();
    if (!lacks_threads_) workers_.push_back(std::move(worker));
  }
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  for (const auto& worker : workers_) {
    std::lock_guard lock(worker->mutex);
    worker->is_woken = true;
    worker->wake.notify_one();
  }
  for (const auto& worker : workers_) worker->thread->join();
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
  const auto wanted = static_cast<int>(std::min<int64_t>(job.count - 1, std::ssize(workers_)));
  {
    std::lock_guard lock(lock_);
    jobs_.push_back(&job);
    job.vacancies.store(wanted, std::memory_order_relaxed);
    vacancies_.fetch_add(wanted, std::memory_order_release);
  }
  WakeSleepers();
  RunTasks(job);
  Close(job);
  // No worker can join any more. The acquire pairs with the release of each helper, so its writes are visible.
  for (int spins = 0; job.helpers.load(std::memory_order_acquire) != 0; ++spins)
    spins < kSpins ? Pause() : std::this_thread::yield();
}

// No worker joins a closed job.
void ThreadPool::Close(Job& job) {
  std::lock_guard lock(lock_);
  vacancies_.fetch_sub(job.vacancies.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  std::erase(jobs_, &job);
}

// Wakes sleeping workers for the vacancies that no spinning worker will take.
void ThreadPool::WakeSleepers() {
  for (int i = 0; i < kWakesPerThread && HasVacancy() && sleeping_.load(std::memory_order_acquire) > 0; ++i) {
    Worker* worker = nullptr;
    {
      std::lock_guard lock(lock_);
      const int spinning = static_cast<int>(workers_.size() - sleepers_.size()) - busy_workers_.load(std::memory_order_relaxed);
      if (sleepers_.empty() || vacancies_.load(std::memory_order_relaxed) <= spinning) return;
      worker = sleepers_.back();
      sleepers_.pop_back();
      sleeping_.store(static_cast<int>(sleepers_.size()), std::memory_order_release);
    }
    std::lock_guard lock(worker->mutex);
    worker->is_woken = true;
    worker->wake.notify_one();
  }
}

// Joins a job with a vacancy; returns null if there is none. Of many spinning workers, only as many take the lock as there
// are vacancies: each first takes one of `vacancies_`, and returns it if the job was closed in the meantime.
ThreadPool::Job* ThreadPool::Join() {
  int vacancies = vacancies_.load(std::memory_order_acquire);
  do {
    if (vacancies <= 0 || !HasFreeCore()) return nullptr;
  } while (!vacancies_.compare_exchange_weak(vacancies, vacancies - 1, std::memory_order_acquire));
  std::lock_guard lock(lock_);
  for (Job* job : jobs_) {
    if (job->vacancies.load(std::memory_order_relaxed) == 0) continue;
    job->vacancies.fetch_sub(1, std::memory_order_relaxed);
    job->helpers.fetch_add(1, std::memory_order_relaxed);
    busy_workers_.fetch_add(1, std::memory_order_relaxed);
    return job;
  }
  vacancies_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

// Adds the worker to the sleepers, unless there is a vacancy.
bool ThreadPool::FallAsleep(Worker& self) {
  std::lock_guard lock(lock_);
  if (HasVacancy()) return false;
  sleepers_.push_back(&self);
  sleeping_.store(static_cast<int>(sleepers_.size()), std::memory_order_release);
  return true;
}

void ThreadPool::WorkerLoop(Worker& self) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    Job* job = nullptr;
    for (int spins = 0; spins < kSpins && (job = Join()) == nullptr; ++spins) Pause();
    if (job != nullptr) {
      WakeSleepers();
      RunTasks(*job);
      if (job->vacancies.load(std::memory_order_relaxed) > 0) Close(*job);  // it has no tasks left
      busy_workers_.fetch_sub(1, std::memory_order_relaxed);
      job->helpers.fetch_sub(1, std::memory_order_release);
    } else if (FallAsleep(self)) {
      std::unique_lock lock(self.mutex);
      self.wake.wait(lock, [&] { return self.is_woken; });
      self.is_woken = false;
    }
  }
}

}  // namespace shoal::internal
