// Ticker: a look at what is being done, every tenth of a second, from one thread for the whole process. What is short
// then neither starts a thread nor waits for one to end.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace shoal::internal {

class Ticker {
 public:
  using Look = std::function<void()>;
  static Ticker& OfProcess();

  // From now on `look` is called; it must stay until Stop. False if another is being called already, or if there
  // can be no thread.
  bool Start(const Look& look);
  // It is not being called any more.
  void Stop();

 private:
  Ticker() = default;
  void Run(const std::stop_token& end);

  std::mutex mutex_;  // held while looking
  std::condition_variable_any changed_;
  const Look* look_ = nullptr;
  bool rests_ = false;  // the thread waits for somebody to start
  std::jthread thread_;
};

}  // namespace shoal::internal
