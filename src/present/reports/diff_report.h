// What `shoal diff` says when it is done.
#pragma once

#include "analyze/diff/changes.h"
#include "analyze/diff/threshold.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct DiffReport {
  struct Side {
    std::string file;
    const Module* module = nullptr;
    ModuleTotals totals;
  };
  Side a, b;
  std::vector<Change> changes;
  std::vector<Threshold> thresholds;
  std::vector<std::string> assumptions;

  bool Holds(const Threshold& threshold) const;
};

// For people: the changes, at most `top` rows of each kind (0: all), the figures, the thresholds that are broken.
std::string DiffText(const DiffReport& report, int64_t top, const TextStyle& style = OutputStyle());
// For programs; docs/diff.md says what stands in it.
std::string DiffJson(const DiffReport& report);

}  // namespace shoal::internal
