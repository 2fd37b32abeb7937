// Predicts collectives on GPUs with NCCL's tuning model, which selects the fastest algorithm and protocol.
#pragma once

#include "analyze/cost/collective_time.h"

namespace shoal::internal {

CollectiveTiming NcclTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine);

}  // namespace shoal::internal
