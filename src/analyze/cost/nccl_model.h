// Collectives on GPUs as NCCL's own tuning prices them: the best of algorithms and protocols.
#pragma once

#include "analyze/cost/collective_time.h"

namespace shoal::internal {

CollectiveTiming NcclTime(Opcode kind, double bytes, const GroupTopology& place, const Machine& machine);

}  // namespace shoal::internal
