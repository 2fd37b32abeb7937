#include "analyze/cost/curves.h"

#include <algorithm>
#include <cmath>

#include "analyze/cost/embedded.h"
#include "yaml-cpp/yaml.h"

namespace shoal::internal {
namespace {

using DeviceCurves = std::map<std::string, std::map<int64_t, Curve>, std::less<>>;

const std::map<std::string, DeviceCurves, std::less<>>& AllCurves() {
  static const auto all = [] {
    std::map<std::string, DeviceCurves, std::less<>> curves;
    const YAML::Node root = YAML::Load(std::string(EmbeddedFile("fitted/collectives.yaml")));
    for (const auto& device : root)
      for (const auto& op : device.second)
        for (const auto& group : op.second)
          for (const auto& point : group.second)
            curves[device.first.as<std::string>()][op.first.as<std::string>()][group.first.as<int64_t>()].Add(
                point.first.as<double>(), point.second.as<double>() * 1e-6);
    return curves;
  }();
  return all;
}

double InterpolateLogLog(double x, double x0, double y0, double x1, double y1) {
  const double t = (std::log(x) - std::log(x0)) / (std::log(x1) - std::log(x0));
  return std::exp(std::log(y0) + t * (std::log(y1) - std::log(y0)));
}

}  // namespace

double Curve::SecondsAt(double bytes) const {
  if (points_.empty()) return 0;
  const auto above = points_.lower_bound(bytes);
  if (above == points_.end()) {
    const auto last = std::prev(points_.end());
    return last->second * bytes / last->first;
  }
  if (above == points_.begin() || above->first == bytes) return above->second;
  const auto below = std::prev(above);
  return InterpolateLogLog(bytes, below->first, below->second, above->first, above->second);
}

std::vector<std::string> CurveNames() {
  // The keys of the outermost map begin their lines. Parsing the whole file would take longer than a prediction.
  std::vector<std::string> names;
  for (std::string_view rest = EmbeddedFile("fitted/collectives.yaml"); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty() && line[0] != ' ' && line[0] != '#') names.emplace_back(line.substr(0, line.find(':')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return names;
}

const std::map<int64_t, Curve>* CurvesOf(std::string_view device, std::string_view op) {
  if (device.empty() || device == "none") return nullptr;
  const auto found = AllCurves().find(device);
  if (found == AllCurves().end()) return nullptr;
  const auto curves = found->second.find(op);
  return curves == found->second.end() ? nullptr : &curves->second;
}

std::optional<double> MeasuredTime(const std::map<int64_t, Curve>& curves, double bytes, int64_t members) {
  const auto above = curves.lower_bound(members);
  if (above == curves.end()) return std::nullopt;
  if (above->first == members) return above->second.SecondsAt(bytes);
  if (above == curves.begin()) return std::nullopt;
  const auto below = std::prev(above);
  if (below->first == 0) return std::nullopt;
  return InterpolateLogLog(static_cast<double>(members), static_cast<double>(below->first),
                           below->second.SecondsAt(bytes), static_cast<double>(above->first), above->second.SecondsAt(bytes));
}

}  // namespace shoal::internal
