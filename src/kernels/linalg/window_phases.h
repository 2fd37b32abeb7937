// A window over a dilated base has elements only under some of its taps, in a pattern that repeats with the position of
// the window. A phase is a set of evenly spaced positions that use the same taps; within a phase there are no holes.
#pragma once

#include <vector>

#include "kernels/linalg/convolve.h"

namespace shoal::internal {

struct Phase {
  int64_t first_position = 0, position_step = 1, positions = 0;
  int64_t first_tap = 0, tap_step = 1, taps = 0;  // taps that are over the base at one position or more
  // Position i and tap j of the phase are over base element start + i * per_position + j * per_tap, if that exists.
  int64_t start = 0, per_position = 0, per_tap = 0;
};

// The phases of one dimension; together they cover every position exactly once.
std::vector<Phase> PhasesOf(const SpatialDim& dim);

}  // namespace shoal::internal
