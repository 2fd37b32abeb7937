// Totals over the rows of `shoal comm`.
#pragma once

#include "present/reports/comm_report.h"

namespace shoal::internal {

struct CommTotal {
  std::string name;
  int64_t collectives = 0;                      // rows of the ledger
  double times = 0;                             // executions
  double payload = 0, ring = 0, direct = 0;     // bytes per device and step
  double between_ring = 0, between_direct = 0;  // bytes between nodes, all devices, per step

  void Add(const CommRow& row);
  void Add(const CommTotal& other);
};

enum class CommKey : uint8_t { kKind, kAxis, kLine };
// One total per value of the key, in descending order of direct bytes.
std::vector<CommTotal> CommTotals(const CommReport& report, CommKey key);

}  // namespace shoal::internal
