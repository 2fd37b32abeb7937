// How often each kind of op runs in a step, and what it comes to.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/summary/op_category.h"

namespace shoal::internal {

struct KindTotal {
  std::string kind;  // "all-reduce", "dot fusion", "__cublas$gemm"
  OpCategory interest = OpCategory::kNone;
  double times = 0;
  double payload_bytes = 0;  // of collectives
  double memory_bytes = 0;   // read and written
  double flops = 0;
};

// What all ops that are not worth a line of their own are counted as.
inline constexpr std::string_view kSmallOps = "small ops";

struct StepTotals {
  // Communication first, small ops last; else by falling weight. Memory and flops add up to those of ModuleCost.
  std::vector<KindTotal> kinds;
  absl::flat_hash_map<const Instruction*, Cost> cost_of;  // of what is no collective, each time
};

StepTotals StepTotalsOf(const ModuleCollectives& collectives, const ModuleCost& cost, FusionWorks& works);

}  // namespace shoal::internal
