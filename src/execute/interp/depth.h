// How deep computations may call each other in a run: each level takes stack.
#pragma once

#include <cstdint>

namespace shoal::internal {

inline constexpr int64_t kMaxDepth = 500;

}  // namespace shoal::internal
