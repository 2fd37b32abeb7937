// Estimates the rounding errors of a module's results from the types and the lengths of reductions on the way to them.
#pragma once

#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// For each result leaf, the expected error relative to the largest elements of the leaf. Independent rounding errors add
// up as a random walk: a sum of n terms that is rounded at each step has sqrt(n) times the error of one rounding.
std::vector<double> EstimateResultErrors(const Module& module);

}  // namespace shoal::internal
