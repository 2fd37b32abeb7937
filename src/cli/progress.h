// The line that long runs keep up to date on a terminal.
#pragma once

#include <chrono>
#include <span>

#include "interp/device.h"

namespace shoal {

class ProgressLine {
 public:
  ProgressLine() : start_(std::chrono::steady_clock::now()) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Standard error is a terminal.
  static bool Wanted();
  // Shows nothing in the first second.
  void Show(std::span<const std::unique_ptr<Device>> devices);
  void Show(std::string line);
  void Clear();

 private:
  double Seconds() const;

  std::chrono::steady_clock::time_point start_;
  bool shown_ = false;
};

// "12 s, 5300 instructions, 40 iterations; devices 0-3 at dot.5, device 4 at all-reduce.1"
std::string ProgressText(double seconds, std::span<const std::unique_ptr<Device>> devices);

// "[#####.....] 12 of 24 files, module_0003"
std::string ProgressBar(int64_t done, int64_t all, std::string_view now);

}  // namespace shoal
