#include "execute/interp/ticker.h"

#include <chrono>

#include "core/base/threads.h"

namespace shoal::internal {

bool Ticker::Start(const Callback& callback) {
  std::lock_guard lock(mutex_);
  if (callback_ != nullptr) return false;
  if (!thread_.joinable()) {
    std::optional<std::jthread> thread = StartThread([this](const std::stop_token& end) { Run(end); });
    if (!thread) return false;
    thread_ = std::move(*thread);
  }
  callback_ = &callback;
  if (idle_) changed_.notify_one();
  return true;
}

void Ticker::Stop() {
  std::lock_guard lock(mutex_);
  callback_ = nullptr;
}

// Keeps ticking between short runs, because waking the thread would take longer than a short run.
void Ticker::Run(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (!end.stop_requested()) {
    idle_ = callback_ == nullptr;
    if (idle_) changed_.wait(lock, end, [this] { return callback_ != nullptr; });
    idle_ = false;
    changed_.wait_for(lock, end, std::chrono::milliseconds(100), [] { return false; });
    if (callback_ != nullptr && !end.stop_requested()) (*callback_)();
  }
}

}  // namespace shoal::internal
