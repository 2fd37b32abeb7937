// Predicts collectives on a torus of chips, with rings along its axes and the data center network between slices.
#pragma once

#include "analyze/cost/collective_time.h"

namespace shoal::internal {

CollectiveTiming TorusTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine);

}  // namespace shoal::internal
