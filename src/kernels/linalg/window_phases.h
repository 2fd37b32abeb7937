// A window that moves over a base with holes sees elements at some of its taps only, and which ones repeats with the
// places. A phase is a set of places, evenly spaced, that see the same taps; within it there are no holes any more.
#pragma once

#include <vector>

#include "kernels/linalg/convolve.h"

namespace shoal::internal {

struct Phase {
  int64_t first_place = 0, place_step = 1, places = 0;
  int64_t first_tap = 0, tap_step = 1, taps = 0;  // those that are over the base at one place at least
  // Place i and tap j of the phase are over element start + i * per_place + j * per_tap of the base, if there is one.
  int64_t start = 0, per_place = 0, per_tap = 0;
};

// The phases of one dimension; together they have every place once.
std::vector<Phase> PhasesOf(const SpatialDim& dim);

}  // namespace shoal::internal
