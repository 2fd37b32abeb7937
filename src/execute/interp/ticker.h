// Ticker: calls a function every tenth of a second, from a thread of its own. Runs one after the other share a ticker,
// so that a short run need not start a thread or wait for its end.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace shoal::internal {

class Ticker {
 public:
  using Callback = std::function<void()>;

  // Starts calling `callback`, which must stay valid until Stop. Returns false if another callback is active or if the
  // system cannot create a thread.
  bool Start(const Callback& callback);
  // Stops calling the callback. When Stop returns, the callback is not running.
  void Stop();

 private:
  void Run(const std::stop_token& end);

  std::mutex mutex_;  // held during the callback
  std::condition_variable_any changed_;
  const Callback* callback_ = nullptr;
  bool idle_ = false;  // the thread is waiting for Start
  std::jthread thread_;
};

}  // namespace shoal::internal
