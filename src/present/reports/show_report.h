// The output of `shoal show`.
#pragma once

#include "present/reports/skeleton_text.h"

namespace shoal::internal {

class ShowReport {
 public:
  // The facts must outlive the report.
  ShowReport(const ModuleFacts& facts, std::string file, const SkeletonOptions& skeleton, const SkeletonStyle& style);

  std::string Text(const TextStyle& style) const;
  // JSON, as described in docs/show.md.
  std::string Json() const;

 private:
  const ModuleFacts& facts_;
  const std::string file_;
  const SkeletonStyle style_;
  const Skeleton skeleton_;
  StepTotals totals_;
  std::vector<std::string> assumptions_;
};

}  // namespace shoal::internal
