// The critical path of a predicted step.
#pragma once

#include "core/ir/trace.h"

namespace shoal::internal {

// For each event, true if it is on the critical path. From the last event of the step, the path leads back to the event
// that ended last before each event's start, and from a wait to its collective. It does not contain waits.
std::vector<bool> CriticalPathOf(const Trace& trace);

}  // namespace shoal::internal
