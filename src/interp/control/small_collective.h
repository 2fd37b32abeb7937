// Collectives of few bytes between processes with one device each: what the general way would work out anew each time
// (who is where, what is sent to whom, which types) is kept from one time to the next.
#pragma once

#include <optional>

#include "interp/control/collective.h"

namespace shoal {

// The value of a collective that is such a one, if all others come to it soon. Else nothing, and the call is as it was.
std::optional<Result<Value>> MeetSoon(Call& call);

}  // namespace shoal
