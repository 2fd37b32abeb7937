// Runs tasks that may block on each other. Uses as many threads as may run at a time, plus one for each blocked task.
// Starts no extra threads if no task blocks.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::internal {

class ElasticThreads {
 public:
  ElasticThreads(size_t count, std::function<void(size_t)> run) : count_(count), run_(std::move(run)) {}

  // Starts another thread if tasks remain. Returns false if there is not enough memory for the thread.
  bool AddThread() {
    std::lock_guard lock(mutex_);
    if (next_.load() >= count_) return true;
    try {
      threads_.emplace_back([this] { RunOnThisThread(); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }
  void RunOnThisThread() {
    for (size_t i = next_++; i < count_; i = next_++) run_(i);
  }

 private:
  size_t count_;
  std::function<void(size_t)> run_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::vector<std::jthread> threads_;
};

}  // namespace shoal::internal
