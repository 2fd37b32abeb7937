// What was assumed where the module does not say: one sentence each.
#pragma once

#include <string>
#include <vector>

#include "analyze/cost/cost.h"
#include "analyze/facts/executions.h"

namespace shoal {

std::vector<std::string> AssumptionsOf(const Executions& executions);
std::vector<std::string> AssumptionsOf(const ModuleCost& cost);

}  // namespace shoal
