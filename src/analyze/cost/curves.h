// Measured times of collectives.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::internal {

class Curve {
 public:
  void Add(double bytes, double seconds) { points_[bytes] = seconds; }
  void Remove(double bytes) { points_.erase(bytes); }
  bool empty() const { return points_.empty(); }
  // Between two points along a straight line of logarithms; as fast as the last beyond it.
  double At(double bytes) const;
  const std::map<double, double>& points() const { return points_; }

 private:
  std::map<double, double> points_;
};

// By group size; 0 for permutes. Null if the device or op was not measured.
const std::map<int64_t, Curve>* CurvesOf(std::string_view device, std::string_view op);

// The time for a group of any size: between sizes that were measured along a line of logarithms. Nothing outside them.
std::optional<double> MeasuredTime(const std::map<int64_t, Curve>& curves, double bytes, int64_t members);

}  // namespace shoal::internal
