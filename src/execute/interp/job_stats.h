// What a run across processes came to, in one place.
#pragma once

#include "execute/interp/run.h"

namespace shoal::internal {

class ProcessLink;

// Every process comes with what its own devices did; the first goes with the whole.
void GatherStats(ProcessLink& link, RunStats& stats);

}  // namespace shoal::internal
