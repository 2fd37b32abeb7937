// What decides how long a predicted step takes.
#pragma once

#include "core/ir/trace.h"

namespace shoal::internal {

// Of each event whether it is on the critical path: from the end of the step back to what ended last before each event
// began; from a wait to what it waits for. Waits themselves are not on it.
std::vector<bool> CriticalPathOf(const Trace& trace);

}  // namespace shoal::internal
