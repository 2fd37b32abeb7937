// Computes the execution count and total cost of each kind of op in a step.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/summary/module_facts.h"
#include "analyze/summary/op_category.h"

namespace shoal::internal {

struct KindTotal {
  std::string kind;  // "all-reduce", "dot fusion", "__cublas$gemm"
  OpCategory interest = OpCategory::kNone;
  double times = 0;
  double payload_bytes = 0;  // payload of collectives
  double memory_bytes = 0;   // bytes read and written
  double flops = 0;
};

// The kind that counts all unimportant ops.
inline constexpr std::string_view kSmallOps = "small ops";

struct StepTotals {
  // Communication comes first, small ops last, the rest by decreasing cost. Memory and flops sum to ModuleCost::total.
  std::vector<KindTotal> kinds;
  absl::flat_hash_map<const Instruction*, Cost> cost_of;  // cost per execution, except for collectives
};

StepTotals StepTotalsOf(const ModuleFacts& facts);

}  // namespace shoal::internal
