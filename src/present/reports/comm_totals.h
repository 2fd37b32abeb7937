// Totals over the rows of `shoal comm`.
#pragma once

#include "present/reports/comm_report.h"

namespace shoal::internal {

struct CommTotal {
  std::string name;
  int64_t collectives = 0;                      // in the text
  double times = 0;                             // they run
  double payload = 0, ring = 0, direct = 0;     // bytes of a device, per step
  double between_ring = 0, between_direct = 0;  // bytes from node to node, of all devices, per step

  void Add(const CommRow& row);
  void Add(const CommTotal& other);
};

enum class CommKey : uint8_t { kKind, kAxis, kLine };
// The largest first.
std::vector<CommTotal> CommTotals(const CommReport& report, CommKey key);

}  // namespace shoal::internal
