// StepLog: the times at which each instruction started and ended on every device, for a profile. It records no values,
// so a run with a log executes exactly like a run without an observer.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "execute/interp/device.h"

namespace shoal::internal {

class StepLog : public Observer {
 public:
  // A step on one device, in seconds since the log was created. The span of a calling instruction includes its callees.
  struct StepSpan {
    const Instruction* hlo = nullptr;
    double start = 0, end = 0;
  };
  // Totals of an instruction over all devices and iterations. `seconds` excludes callees.
  struct Total {
    int64_t times = 0;
    double seconds = 0;
  };
  static constexpr size_t kMaxSteps = 200'000;  // limit of recorded steps per device; the totals include all steps

 private:
  struct DeviceLog {
    std::vector<StepSpan> steps;
    std::map<const Instruction*, Total> totals;
    double callee_seconds = 0;  // time spent in callees of the current step
  };

 public:
  explicit StepLog(int64_t devices) : devices_(static_cast<size_t>(devices)) {}
  Status OnValue(const Device&, const Instruction&, const Value&) override { return {}; }

  int64_t devices() const { return static_cast<int64_t>(devices_.size()); }
  // The recorded steps, ordered by end time.
  const std::vector<StepSpan>& steps(int64_t device) const { return devices_[static_cast<size_t>(device)].steps; }
  std::map<const Instruction*, Total> Totals() const {
    std::map<const Instruction*, Total> all;
    for (const DeviceLog& device : devices_) {
      for (const auto& [hlo, total] : device.totals) {
        all[hlo].times += total.times;
        all[hlo].seconds += total.seconds;
      }
    }
    return all;
  }

  // For runs across processes: the totals of a remote device, and this log's start time by the local clock.
  const std::map<const Instruction*, Total>& totals(int64_t device) const {
    return devices_[static_cast<size_t>(device)].totals;
  }
  double origin() const { return std::chrono::duration<double>(start_.time_since_epoch()).count(); }
  void Put(int64_t device, std::vector<StepSpan> steps, std::map<const Instruction*, Total> totals) {
    DeviceLog& log = devices_[static_cast<size_t>(device)];
    log.steps = std::move(steps);
    log.totals = std::move(totals);
  }

  // Logs a step from construction to the end of the scope, on the device's thread. Does nothing if there is no log.
  class Timer {
   public:
    Timer(StepLog* log, int64_t device, const Instruction& hlo) {
      if (log == nullptr) return;
      log_ = log;
      device_ = &log->devices_[static_cast<size_t>(device)];
      hlo_ = &hlo;
      outer_callee_seconds_ = std::exchange(device_->callee_seconds, 0);
      start_ = log->Now();
    }
    ~Timer() {
      if (log_ == nullptr) return;
      const double end = log_->Now(), seconds = end - start_;
      Total& total = device_->totals[hlo_];
      ++total.times;
      total.seconds += seconds - device_->callee_seconds;
      device_->callee_seconds = outer_callee_seconds_ + seconds;
      if (device_->steps.size() < kMaxSteps) device_->steps.push_back({hlo_, start_, end});
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    StepLog* log_ = nullptr;
    DeviceLog* device_ = nullptr;
    const Instruction* hlo_ = nullptr;
    double start_ = 0, outer_callee_seconds_ = 0;
  };

 private:
  double Now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<DeviceLog> devices_;
};

// The log of the run; null if the run is not timed.
inline StepLog* LogOf(const RunSettings& settings) {
  return settings.observer == nullptr ? nullptr : dynamic_cast<StepLog*>(settings.observer);
}
// The observer of values; null if there is none or it only observes times.
inline Observer* ValueObserverOf(const RunSettings& settings) {
  return LogOf(settings) != nullptr ? nullptr : settings.observer;
}

}  // namespace shoal::internal
