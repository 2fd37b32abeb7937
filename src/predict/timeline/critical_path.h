// The critical path of a predicted step.
#pragma once

#include "core/ir/trace.h"

namespace shoal::internal {

// For each event, true if it is on the critical path. The path leads from the last event of the step back to the event
// that ended last before the start of each event, and from a wait to its collective. Waits are not part of it.
std::vector<bool> CriticalPathOf(const Trace& trace);

}  // namespace shoal::internal
