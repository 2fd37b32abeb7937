// Times of collectives on GPUs by NCCL's tuning model: the fastest combination of algorithm and protocol.
#pragma once

#include "analyze/cost/collective_time.h"

namespace shoal::internal {

CollectiveTiming NcclTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine);

}  // namespace shoal::internal
