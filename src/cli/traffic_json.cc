#include "cli/traffic_json.h"

#include "ops/op.h"

namespace shoal {

nlohmann::ordered_json TrafficJson(const std::vector<DeviceTraffic>& traffic) {
  using Json = nlohmann::ordered_json;
  std::map<std::vector<double>, std::pair<const DeviceTraffic*, std::vector<int64_t>>> alike;
  for (size_t device = 0; device < traffic.size(); ++device) {
    std::vector<double> key;
    for (const auto& [kind, sum] : traffic[device])
      key.insert(key.end(), {static_cast<double>(kind), sum.calls, sum.payload_bytes, sum.wire_bytes});
    auto& [one, devices] = alike[key];
    one = &traffic[device];
    devices.push_back(static_cast<int64_t>(device));
  }
  Json all = Json::array();
  for (const auto& [key, value] : alike) {
    Json kinds = Json::object();
    for (const auto& [kind, sum] : *value.first)
      kinds[std::string(Text(kind))] = {
          {"calls", sum.calls}, {"payload_bytes", sum.payload_bytes}, {"wire_bytes", sum.wire_bytes}};
    all.push_back({{"devices", value.second}, {"kinds", std::move(kinds)}});
  }
  return all;
}

}  // namespace shoal
