// The maximum call depth of computations in a run. Each level uses stack space.
#pragma once

#include <cstdint>

namespace shoal::internal {

inline constexpr int64_t kMaxDepth = 500;

}  // namespace shoal::internal
