// Measured times of collectives.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::internal {

class Curve {
 public:
  void Add(double bytes, double seconds) { points_[bytes] = seconds; }
  void Remove(double bytes) { points_.erase(bytes); }
  bool empty() const { return points_.empty(); }
  // Interpolates between two points in log-log space. Beyond the last point, assumes the throughput of that point.
  double SecondsAt(double bytes) const;
  const std::map<double, double>& points() const { return points_; }

 private:
  std::map<double, double> points_;
};

// The devices with measured curves.
std::vector<std::string> CurveNames();

// Returns the curves of an op by group size (0 for permutes), or null if the device or op was not measured.
const std::map<int64_t, Curve>* CurvesOf(std::string_view device, std::string_view op);

// Interpolates in log-log space between measured group sizes. Returns nullopt for `members` outside their range.
std::optional<double> MeasuredTime(const std::map<int64_t, Curve>& curves, double bytes, int64_t members);

}  // namespace shoal::internal
