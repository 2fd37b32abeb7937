// The progress line of long runs on a terminal, and the activity that Ctrl-C reports.
#pragma once

#include <chrono>
#include <string>

namespace shoal::cli {

class ProgressLine {
 public:
  // `task`, such as "generating inputs", begins the line and is the activity that Ctrl-C reports.
  explicit ProgressLine(std::string task) : task_(std::move(task)), start_(std::chrono::steady_clock::now()) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // "generating inputs: 4 s, 27 %, 12 s left, 1.1 GiB of 4.0 GiB"; `total` is 0 if unknown. Shows nothing in the first
  // second, then at most ten updates per second.
  void Show(double done, double total, const std::string& detail);
  void Clear();

 private:
  double Seconds() const;

  const std::string task_;
  std::chrono::steady_clock::time_point start_;
  double shown_at_ = 0;
  bool shown_ = false;
};

}  // namespace shoal::cli
