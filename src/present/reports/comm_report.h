// The output of `shoal comm`.
#pragma once

#include <string>

#include "analyze/cost/overlap.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/traffic.h"
#include "analyze/summary/module_facts.h"
#include "present/reports/table.h"

namespace shoal::internal {

// A row of the ledger.
struct CommRow {
  const LogicalCollective* use = nullptr;
  int64_t ring_bytes = 0, direct_bytes = 0;  // maximum received by any device, per execution
  NodeSplit split;
  Overlap overlap;
  std::string line;  // source line in the user's program; empty: unknown
};

// The orders of the rows: that of execution, the largest figure per step first, or by name.
inline constexpr std::string_view kCommOrders[] = {"order", "payload", "ring", "direct", "count", "name"};

struct CommReport {
  std::string file;
  const ModuleFacts* facts = nullptr;
  int64_t devices_per_node = 8;
  std::vector<CommRow> rows;               // in the order of `sort`
  std::vector<const Instruction*> loops;   // reachable from the entry
  std::vector<std::string> assumptions;    // one sentence each
  bool matrix = false;
  std::string sort = "order";  // one of kCommOrders
  int64_t top = 20;            // rows of each table; 0: all
};

struct CommOptions {
  int64_t devices_per_node = 8;
  bool matrix = false;
  std::string sort = "order";  // one of kCommOrders
  int64_t top = 20;
};
// The facts must outlive the report.
CommReport CommReportOf(const ModuleFacts& facts, const std::string& file, const CommOptions& options);

// A row per collective, totals by kind, by axis and by source line, and the matrix if `matrix` is set.
std::string CommText(const CommReport& report, const TextStyle& style);
// JSON, as described in docs/comm.md.
std::string CommJson(const CommReport& report);
// Only the traffic matrix, with a row and a column per device.
std::string CommMatrixCsv(const CommReport& report);

}  // namespace shoal::internal
