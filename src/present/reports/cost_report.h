// The output of `shoal cost`.
#pragma once

#include <string>

#include "analyze/summary/module_facts.h"
#include "present/reports/table.h"

namespace shoal::internal {

// What the rows can be grouped by.
inline constexpr std::string_view kCostGroupings[] = {"op",      "opcode",  "computation", "line",
                                                        "op_name", "op_type", "module"};

struct CostReport {
  std::string file;
  const ModuleFacts* facts = nullptr;
  std::string by = "op";  // one of kCostGroupings
  int64_t top = 20;       // rows; 0: all
  std::vector<std::string> assumptions;
};

// The facts must outlive the report.
CostReport CostReportOf(const ModuleFacts& facts, const std::string& file, const std::string& by, int64_t top);

// A row per group, the most expensive first, and the result of XLA's own analysis.
std::string CostText(const CostReport& report, const TextStyle& style);
// JSON, as described in docs/cost.md.
std::string CostJson(const CostReport& report);

}  // namespace shoal::internal
