// Collectives on GPUs as NCCL's own tuning prices them: the best of algorithms and protocols.
#pragma once

#include "analyze/cost/collective_time.h"

namespace shoal {

CollectivePrice NcclTime(Opcode kind, double bytes, const GroupPlace& place, const Machine& machine);

}  // namespace shoal
