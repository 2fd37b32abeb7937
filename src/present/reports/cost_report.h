// What `shoal cost` says.
#pragma once

#include <string>

#include "analyze/cost/cost.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct CostReport {
  std::string file;
  const Module* module = nullptr;
  ModuleCost cost;
  std::string by = "op";  // what a row stands for: op, opcode, computation, line, op_name
  int64_t top = 20;       // rows; 0: all
  std::vector<std::string> assumptions;
};

// For people: a row for each group, the heaviest first, and what XLA's own analysis says.
std::string CostText(const CostReport& report, const TextStyle& style = OutputStyle());
// For programs; docs/cost.md says what stands in it.
std::string CostJson(const CostReport& report);

}  // namespace shoal::internal
