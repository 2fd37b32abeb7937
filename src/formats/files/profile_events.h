// What the readers of all profiles share.
#pragma once

#include "core/base/result.h"
#include "core/ir/trace.h"

namespace shoal::internal {

// Adds an event to a profile. Fails if its times are impossible, as a negative duration is, and if there are too many
// events. The message is a predicate.
Status AddEvent(Trace& trace, TraceEvent event);

}  // namespace shoal::internal
