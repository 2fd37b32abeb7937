// TaskLog: the jobs of a run and the durations of their tasks, for bench/scaling.py. If the environment variable
// SHOAL_TASK_LOG names a file, thread pools run all tasks one after the other on the calling thread, so that each is
// measured alone, and each run replaces the file:
//
//     wake NS             time until a sleeping worker starts a task, measured when the log starts
//     run BEGIN END       of the run; all times are processor time of the calling thread, in ns
//     job BEGIN END D…    of a job, and the duration of each of its tasks; not for jobs inside tasks
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace shoal::internal {

class ThreadPool;

class TaskLog {
 public:
  // Null unless the environment variable is set.
  static TaskLog* Get();

  // Runs task(i) for each i in [0, count) and records the durations. Returns false while the log measures how long the
  // workers of the pool take to wake up: the pool then runs the job itself.
  bool RunJob(ThreadPool& pool, int64_t count, void* context, void (*task)(void* context, int64_t i));

  // Begins the record of a run; the destructor writes the file. Does nothing if there is no log.
  class RunRecord {
   public:
    RunRecord();
    ~RunRecord();

   private:
    int64_t begin_ = 0;
  };

 private:
  enum class Wake : uint8_t { kUnknown, kMeasuring, kKnown };

  explicit TaskLog(std::string path) : path_(std::move(path)) {}
  void MeasureWakeTime(ThreadPool& pool);

  std::string path_;
  std::atomic<Wake> wake_ = Wake::kUnknown;
  std::mutex mutex_;
  std::string jobs_;
  int64_t wake_ns_ = 0;
};

}  // namespace shoal::internal
