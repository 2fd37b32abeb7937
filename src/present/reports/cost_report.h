// The output of `shoal cost`.
#pragma once

#include <string>

#include "analyze/summary/module_facts.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct CostReport {
  std::string file;
  const ModuleFacts* facts = nullptr;
  std::string by = "op";  // grouping of the rows: op, opcode, computation, line, op_name
  int64_t top = 20;       // rows; 0: all
  std::vector<std::string> assumptions;
};

// A row per group, the most expensive first, and the result of XLA's own analysis.
std::string CostText(const CostReport& report, const TextStyle& style = OutputStyle());
// JSON, as described in docs/cost.md.
std::string CostJson(const CostReport& report);

}  // namespace shoal::internal
