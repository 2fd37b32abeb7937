// The critical path of a predicted step.
#pragma once

#include "core/ir/trace.h"

namespace shoal::internal {

// Returns true for each event on the critical path, except waits. The path is traced back from the last event of the
// step: from a wait to its collective, and from any other event to the event that ended last before it started.
std::vector<bool> CriticalPathOf(const Trace& trace);

}  // namespace shoal::internal
