// The execution skeleton as text: indented lines with columns, and the totals per step.
#pragma once

#include "analyze/summary/skeleton.h"
#include "analyze/summary/step_totals.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct SkeletonStyle {
  bool names = false;     // show instruction names
  bool groups_as_written = false;  // show device groups as written instead of mesh axes
  bool stack = false;  // show the Python stack of each op
  int64_t depth = 0;      // maximum number of levels; 0: all
  TextStyle text;
};

struct ShownModule {
  const ModuleFacts& facts;
  const Skeleton& skeleton;
  const StepTotals& totals;
};

std::string SkeletonText(const ShownModule& shown, const SkeletonStyle& style);

// Properties of an item that the text and the JSON share.
std::string LoopRange(const TripCount& trips);                        // "range(10)", "range(2, 12, 2)", "range(?)"
std::string ItemLabel(const SkeletonItem& item, const FusionWorks& works);  // "all-gather", "fusion: dot + bias"
const Shape& ItemShape(const SkeletonItem& item);                     // of the result; a start also has operands
std::string GroupsAsWritten(const Instruction& collective);           // "{{0,1},{2,3}}"

}  // namespace shoal::internal
