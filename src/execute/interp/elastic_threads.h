// Runs tasks that may block on each other. Uses as many threads as may run at a time, plus one for each blocked task.
// Starts no extra threads if no task blocks.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/threads.h"

namespace shoal::internal {

class ElasticThreads {
 public:
  ElasticThreads(size_t count, std::function<void(size_t)> run) : count_(count), run_(std::move(run)) {}

  // Starts another thread if tasks remain. Returns false if there is not enough memory for the thread.
  bool AddThread() {
    std::lock_guard lock(mutex_);
    if (next_.load() >= count_) return true;
    std::optional<std::jthread> thread = StartThread([this] { RunOnThisThread(); });
    if (thread) threads_.push_back(std::move(*thread));
    return thread.has_value();
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
