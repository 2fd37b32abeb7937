#include "execute/interp/ticker.h"

#include <chrono>
#include <system_error>

namespace shoal::internal {

Ticker& Ticker::OfProcess() {
  static Ticker ticker;
  return ticker;
}

bool Ticker::Start(const Look& look) {
  std::lock_guard lock(mutex_);
  if (look_ != nullptr) return false;
  try {
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& end) { Run(end); });
  } catch (const std::system_error&) {
    return false;  // no memory for another thread
  }
  look_ = &look;
  if (rests_) changed_.notify_one();
  return true;
}

void Ticker::Stop() {
  std::lock_guard lock(mutex_);
  look_ = nullptr;
}

// Between short runs it goes on ticking: waking it for each would cost them more than they take.
void Ticker::Run(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (!end.stop_requested()) {
    rests_ = look_ == nullptr;
    if (rests_) changed_.wait(lock, end, [this] { return look_ != nullptr; });
    rests_ = false;
    changed_.wait_for(lock, end, std::chrono::milliseconds(100), [] { return false; });
    if (look_ != nullptr && !end.stop_requested()) (*look_)();
  }
}

}  // namespace shoal::internal
