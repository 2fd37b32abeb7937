// The output of `shoal diff`.
#pragma once

#include "analyze/diff/changes.h"
#include "analyze/diff/threshold.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct DiffReport {
  struct Side {
    std::string file;
    const ModuleFacts* facts = nullptr;
    ModuleTotals totals;
  };
  Side a, b;
  std::vector<Change> changes;
  std::vector<Threshold> thresholds;
  std::vector<std::string> assumptions;

  bool IsSatisfied(const Threshold& threshold) const;
};

// The facts must have equal options and outlive the report.
DiffReport DiffReportOf(const ModuleFacts& a, const std::string& file_a, const ModuleFacts& b, const std::string& file_b);

// The changes (at most `top` rows of each kind; 0: all), the metrics, and the result of each threshold.
std::string DiffText(const DiffReport& report, int64_t top, const TextStyle& style);
// JSON, as described in docs/diff.md.
std::string DiffJson(const DiffReport& report);

}  // namespace shoal::internal
