// Collectives on a torus of chips: rings along its axes, and the data center network between slices.
#pragma once

#include "analyze/cost/collective_time.h"

namespace shoal {

CollectivePrice TorusTime(Opcode kind, double bytes, const GroupPlace& place, const Machine& machine);

}  // namespace shoal
