// Gathers the statistics of a run across processes.
#pragma once

#include "execute/interp/run.h"

namespace shoal::internal {

class ProcessLink;

// Every process passes the statistics of its own devices. The first process receives those of all devices in `stats`.
void GatherStats(ProcessLink& link, RunStats& stats);

}  // namespace shoal::internal
