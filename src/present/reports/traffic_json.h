// Traffic per device as JSON, in one format for the measured traffic of `run` and the computed traffic of `comm`.
#pragma once

#include "analyze/facts/traffic.h"
#include "present/reports/json.h"

namespace shoal::internal {

// [{"devices": [0,1], "kinds": {"all-reduce": {"calls": 1, "payload_bytes": 8, "wire_bytes": 8}}}, …]: devices with
// identical traffic share an entry.
Json TrafficJson(const std::vector<DeviceTraffic>& traffic);

}  // namespace shoal::internal
