// Calls a function ten times per second, until all watched threads are done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace shoal::internal {

class ProgressPoller {
 public:
  explicit ProgressPoller(int64_t running) : running_(running) {}

  void MarkDone() {
    std::lock_guard lock(mutex_);
    if (--running_ == 0) changed_.notify_one();
  }

  void PollUntilAllDone(const std::function<void()>& poll) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return running_ == 0; })) {
      lock.unlock();
      poll();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t running_;
};

}  // namespace shoal::internal
