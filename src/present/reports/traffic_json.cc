#include "present/reports/traffic_json.h"

#include <cmath>

#include "core/ops/op.h"

namespace shoal::internal {
namespace {

// An integer, unless branch probabilities made the count a fraction.
Json Count(double number) {
  const bool whole = number == std::floor(number) && number < 1e15;
  return whole ? Json(static_cast<int64_t>(number)) : Json(number);
}

}  // namespace

Json TrafficJson(const std::vector<DeviceTraffic>& traffic) {
  std::map<std::vector<double>, std::pair<const DeviceTraffic*, std::vector<int64_t>>> identical;
  for (size_t device = 0; device < traffic.size(); ++device) {
    std::vector<double> key;
    for (const auto& [kind, sum] : traffic[device])
      key.insert(key.end(), {static_cast<double>(kind), sum.calls, sum.payload_bytes, sum.wire_bytes});
    auto& [sample, devices] = identical[key];
    sample = &traffic[device];
    devices.push_back(static_cast<int64_t>(device));
  }
  Json all = Json::array();
  for (const auto& [key, value] : identical) {
    Json kinds = Json::object();
    for (const auto& [kind, sum] : *value.first)
      kinds[std::string(Text(kind))] = {{"calls", Count(sum.calls)},
                                        {"payload_bytes", Count(sum.payload_bytes)},
                                        {"wire_bytes", Count(sum.wire_bytes)}};
    all.push_back({{"devices", value.second}, {"kinds", std::move(kinds)}});
  }
  return all;
}

}  // namespace shoal::internal
