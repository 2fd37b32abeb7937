// Assumptions that an analysis makes where the module is not specific, one sentence each.
#pragma once

#include <string>
#include <vector>

#include "analyze/cost/cost.h"
#include "analyze/facts/execution_counts.h"
#include "analyze/summary/module_facts.h"

namespace shoal::internal {

std::vector<std::string> AssumptionsOf(const ExecutionCounts& executions);
// Also on the compiler, and on the form of the module: before or after partitioning.
std::vector<std::string> AssumptionsOf(const ModuleFacts& facts);
std::vector<std::string> AssumptionsOf(const ModuleCost& cost);

}  // namespace shoal::internal
