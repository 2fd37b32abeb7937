// The line that long runs keep up to date on a terminal, and what Ctrl-C says.
#pragma once

#include <chrono>
#include <span>

#include "execute/interp/device.h"

namespace shoal::internal {

class ProgressLine {
 public:
  // `doing`: for Ctrl-C and the beginning of the line, "making inputs".
  explicit ProgressLine(std::string doing) : doing_(std::move(doing)), start_(std::chrono::steady_clock::now()) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // "making inputs: 27 %, 1.1 of 4.0 GiB, 12 s left"; `all` is 0 where nobody knows. Shows nothing in the first second,
  // and after that ten times a second.
  void Show(double done, double all, const std::string& what);
  void Clear();

 private:
  double Seconds() const;

  const std::string doing_;
  std::chrono::steady_clock::time_point start_;
  double shown_at_ = 0;
  bool shown_ = false;
};

// Steps of all devices together so far.
double StepsDone(std::span<const std::unique_ptr<Device>> devices);
// "40 iterations; devices 0-3 at dot.5, device 4 at all-reduce.1"
std::string FormatDevicePositions(std::span<const std::unique_ptr<Device>> devices);

}  // namespace shoal::internal
