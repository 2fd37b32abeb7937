#include "core/base/task_log.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "core/base/files.h"
#include "core/base/strings.h"
#include "core/base/thread_pool.h"

namespace shoal::internal {
namespace {

thread_local bool is_inside_task = false;

// Nanoseconds of processor time of this thread: other processes do not count.
int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t NanosecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TaskLog* TaskLog::Get() {
  static TaskLog* const log = [] {
    const char* path = std::getenv("SHOAL_TASK_LOG");
    return path == nullptr ? nullptr : new TaskLog(path);
  }();
  return log;
}

// Runs jobs of two tasks after a pause in which the workers fall asleep. Each task waits for the other, so they run on
// two threads. Takes the shortest time, because other processes delay some of the wake-ups.
void TaskLog::MeasureWakeTime(ThreadPool& pool) {
  constexpr int kRounds = 8;
  constexpr int64_t kLimit = 20'000'000;  // ns; other processes may occupy the cores
  for (int round = 0; round < kRounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> started = 0, last = 0;
    const auto begin = std::chrono::steady_clock::now();
    pool.Run(2, [&](int64_t) {
      last = NanosecondsSince(begin);
      ++started;
      while (started < 2 && NanosecondsSince(begin) < kLimit) {
      }
    });
    wake_ns_ = round == 0 ? last.load() : std::min(wake_ns_, last.load());
  }
}

bool TaskLog::RunJob(ThreadPool& pool, int64_t count, void* context, void (*task)(void* context, int64_t i)) {
  if (wake_ == Wake::kMeasuring) return false;
  if (Wake unknown = Wake::kUnknown; wake_.compare_exchange_strong(unknown, Wake::kMeasuring)) {
    MeasureWakeTime(pool);
    wake_ = Wake::kKnown;
  }
  if (is_inside_task) {
    for (int64_t i = 0; i < count; ++i) task(context, i);
    return true;
  }
  is_inside_task = true;
  std::string durations;
  const int64_t begin = Now();
  int64_t last = begin;
  for (int64_t i = 0; i < count; ++i) {
    task(context, i);
    const int64_t now = Now();
    StrAppend(&durations, " ", now - last);
    last = now;
  }
  is_inside_task = false;
  std::lock_guard lock(mutex_);
  StrAppend(&jobs_, "job ", begin, " ", last, durations, "\n");
  return true;
}

TaskLog::RunRecord::RunRecord() {
  TaskLog* log = Get();
  if (log == nullptr) return;
  std::lock_guard lock(log->mutex_);
  log->jobs_.clear();
  begin_ = Now();
}

TaskLog::RunRecord::~RunRecord() {
  const int64_t end = Now();
  TaskLog* log = Get();
  if (log == nullptr) return;
  std::lock_guard lock(log->mutex_);
  (void)WriteFile(log->path_, {StrCat("wake ", log->wake_ns_, "\nrun ", begin_, " ", end, "\n"), log->jobs_});
}

}  // namespace shoal::internal
