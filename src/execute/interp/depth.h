// How deep computations may call each other in a run: each level takes stack.
#pragma once

#include <cstdint>

namespace shoal {

inline constexpr int64_t kMostDepth = 500;

}  // namespace shoal
