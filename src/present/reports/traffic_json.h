// What devices moved, for programs: `run` says what it counted, `comm` what it expects, in the same words.
#pragma once

#include "analyze/facts/traffic.h"
#include "present/reports/json.h"

namespace shoal::internal {

// [{"devices": [0,1], "kinds": {"all-reduce": {"calls": 1, "payload_bytes": 8, "wire_bytes": 8}}}, …]: devices with the
// same traffic together.
Json TrafficJson(const std::vector<DeviceTraffic>& traffic);

}  // namespace shoal::internal
