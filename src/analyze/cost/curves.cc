#include "analyze/cost/curves.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "analyze/cost/embedded.h"
#include "yaml-cpp/yaml.h"

namespace shoal::internal {
namespace {

using DeviceCurves = std::map<std::string, std::map<int64_t, Curve>, std::less<>>;

// Calls `visit` with each device of the file and its section, which are the indented lines below its name.
template <class Visit>
void ForEachSection(Visit visit) {
  const std::string_view text = EmbeddedFile("fitted/collectives.yaml");
  auto starts_section = [&](size_t at) { return text[at] != ' ' && text[at] != '#' && text[at] != '\n'; };
  auto next_line = [&](size_t at) { return std::min(text.find('\n', at), text.size() - 1) + 1; };
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = next_line(begin);
    while (end < text.size() && !starts_section(end)) end = next_line(end);
    if (starts_section(begin)) visit(text.substr(begin, text.find(':', begin) - begin), text.substr(begin, end - begin));
    begin = end;
  }
}

DeviceCurves ParseSection(std::string_view section) {
  DeviceCurves curves;
  const YAML::Node root = YAML::Load(std::string(section));
  for (const auto& device : root)
    for (const auto& op : device.second)
      for (const auto& group : op.second)
        for (const auto& point : group.second)
          curves[op.first.as<std::string>()][group.first.as<int64_t>()].Add(point.first.as<double>(),
                                                                           point.second.as<double>() * 1e-6);
  return curves;
}

// Parses only the sections that are used: parsing the whole file takes longer than a prediction.
const DeviceCurves& CurvesOf(std::string_view device) {
  static std::mutex mutex;
  static std::map<std::string, DeviceCurves, std::less<>> parsed;
  const std::lock_guard lock(mutex);
  if (const auto found = parsed.find(device); found != parsed.end()) return found->second;
  DeviceCurves& curves = parsed[std::string(device)];
  ForEachSection([&](std::string_view name, std::string_view section) {
    if (name == device) curves = ParseSection(section);
  });
  return curves;
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
  std::vector<std::string> names;
  ForEachSection([&](std::string_view name, std::string_view) { names.emplace_back(name); });
  return names;
}

const std::map<int64_t, Curve>* CurvesOf(std::string_view device, std::string_view op) {
  const DeviceCurves& curves = CurvesOf(device);
  const auto found = curves.find(op);
  return found == curves.end() ? nullptr : &found->second;
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
