// StepLog: when each step of a run began and ended on every device, for a profile of the run. It is an observer of time,
// not of values: a run that it watches is the run that nobody watches.
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
  // Of one device; times in seconds since the log was made. Steps that call others last as long as all of those.
  struct StepSpan {
    const Instruction* hlo = nullptr;
    double start = 0, end = 0;
  };
  // Of all devices and rounds together; `seconds` without the steps that it called.
  struct Total {
    int64_t times = 0;
    double seconds = 0;
  };
  static constexpr size_t kMaxSteps = 200'000;  // of one device that are kept; the totals have all of them

 private:
  struct OfDevice {
    std::vector<StepSpan> steps;
    std::map<const Instruction*, Total> totals;
    double of_called = 0;  // what steps called by the one under way have taken
  };

 public:
  explicit StepLog(int64_t devices) : devices_(static_cast<size_t>(devices)) {}
  Status OnValue(const Device&, const Instruction&, const Value&) override { return {}; }

  int64_t devices() const { return static_cast<int64_t>(devices_.size()); }
  // In the order in which they ended.
  const std::vector<StepSpan>& steps(int64_t device) const { return devices_[static_cast<size_t>(device)].steps; }
  std::map<const Instruction*, Total> Totals() const {
    std::map<const Instruction*, Total> all;
    for (const OfDevice& device : devices_) {
      for (const auto& [hlo, total] : device.totals) {
        all[hlo].times += total.times;
        all[hlo].seconds += total.seconds;
      }
    }
    return all;
  }

  // For a run across processes: what another one's device did, and when by its clock this log began.
  const std::map<const Instruction*, Total>& totals(int64_t device) const {
    return devices_[static_cast<size_t>(device)].totals;
  }
  double origin() const { return std::chrono::duration<double>(start_.time_since_epoch()).count(); }
  void Put(int64_t device, std::vector<StepSpan> steps, std::map<const Instruction*, Total> totals) {
    OfDevice& of = devices_[static_cast<size_t>(device)];
    of.steps = std::move(steps);
    of.totals = std::move(totals);
  }

  // Logs a step from here to the end of the scope, on the device's thread; does nothing without a log.
  class Timer {
   public:
    Timer(StepLog* log, int64_t device, const Instruction& hlo) {
      if (log == nullptr) return;
      log_ = log;
      device_ = &log->devices_[static_cast<size_t>(device)];
      hlo_ = &hlo;
      of_others_ = std::exchange(device_->of_called, 0);
      start_ = log->Now();
    }
    ~Timer() {
      if (log_ == nullptr) return;
      const double end = log_->Now(), seconds = end - start_;
      Total& total = device_->totals[hlo_];
      ++total.times;
      total.seconds += seconds - device_->of_called;
      device_->of_called = of_others_ + seconds;
      if (device_->steps.size() < kMaxSteps) device_->steps.push_back({hlo_, start_, end});
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    StepLog* log_ = nullptr;
    OfDevice* device_ = nullptr;
    const Instruction* hlo_ = nullptr;
    double start_ = 0, of_others_ = 0;
  };

 private:
  double Now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<OfDevice> devices_;
};

// Null where nobody times the run.
inline StepLog* LogOf(const RunSettings& settings) {
  return settings.observer == nullptr ? nullptr : dynamic_cast<StepLog*>(settings.observer);
}
// Who sees values; null where nobody does.
inline Observer* ValueObserverOf(const RunSettings& settings) {
  return LogOf(settings) != nullptr ? nullptr : settings.observer;
}

}  // namespace shoal::internal
