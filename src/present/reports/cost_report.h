// The output of `shoal cost`.
#pragma once

#include <string>

#include "analyze/summary/module_facts.h"
#include "present/reports/table.h"

namespace shoal::internal {

// What the rows can be grouped by.
inline constexpr std::string_view kCostGroupings[] = {"op",      "opcode",  "computation", "line",
                                                        "op_name", "op_type", "module"};
// The orders of the rows: the largest first, or by name. "cost" is flops + 100 * bytes.
inline constexpr std::string_view kCostOrders[] = {"cost", "flops", "transcendentals", "read", "written", "count", "name"};

struct CostReportOptions {
  std::string by = "op";      // one of kCostGroupings
  std::string sort = "cost";  // one of kCostOrders
  int64_t top = 20;           // rows; 0: all
};

struct CostReport {
  std::string file;
  const ModuleFacts* facts = nullptr;
  CostReportOptions options;
  std::vector<std::string> assumptions;
};

// The facts must outlive the report.
CostReport CostReportOf(const ModuleFacts& facts, const std::string& file, const CostReportOptions& options);

// A row per group and the result of XLA's own analysis.
std::string CostText(const CostReport& report, const TextStyle& style);
// JSON, as described in docs/cost.md.
std::string CostJson(const CostReport& report);

}  // namespace shoal::internal
