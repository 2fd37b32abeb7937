// Collectives of few bytes between processes with one device each: what the general way would work out anew each time
// (who is where, what is sent to whom, which types) is kept from one time to the next.
#pragma once

#include "interp/control/collective.h"

namespace shoal {

// Arrives at a collective that is such a one, if all others come to it soon. Else null, and the call is as it was.
SmallCollective* MeetSoon(const Call& call);
// Its value, when all have come.
Result<Value> TakeResult(SmallCollective& met, Call& call);

}  // namespace shoal
