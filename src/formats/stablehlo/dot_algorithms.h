// The algorithms of dots: HLO names each, StableHLO describes its types and operations.
#pragma once

#include <string>

#include "core/ops/attrs.h"

namespace shoal::internal {

// The algorithm with these types of operands and sums; kUnset if HLO has none.
DotAlgorithm DotAlgorithmOf(std::string_view lhs, std::string_view rhs, std::string_view sum, int64_t operations,
                            bool imprecise);
// #stablehlo.dot_algorithm<…>, for operands of the given types; empty if there is no such description.
std::string DotAlgorithmText(DotAlgorithm algorithm, ElementType lhs, ElementType rhs);

}  // namespace shoal::internal
