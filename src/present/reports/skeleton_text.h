// The execution skeleton for people: indented lines with columns, and the totals of a step.
#pragma once

#include "analyze/summary/skeleton.h"
#include "analyze/summary/step_totals.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct SkeletonStyle {
  bool names = false;     // of instructions
  bool topology = false;  // groups as written, in place of what they are
  int64_t depth = 0;      // so many levels; 0: all
  TextStyle text;
};

struct ShownModule {
  const Module& module;
  const ExecutionCounts& executions;
  Skeleton& skeleton;
  const StepTotals& totals;
};

std::string SkeletonText(const ShownModule& shown, const SkeletonStyle& style);

// What the text and the JSON say about an item alike.
std::string LoopRange(const TripCount& trips);                        // "range(10)", "range(2, 12, 2)", "range(?)"
std::string ItemLabel(const SkeletonItem& item, FusionWorks& works);  // "all-gather", "fusion: dot + bias"
const Shape& ItemShape(const SkeletonItem& item);                     // of the result, once it is there
std::string GroupsAsWritten(const Instruction& collective);           // "{{0,1},{2,3}}"

}  // namespace shoal::internal
