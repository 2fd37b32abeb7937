// The arguments of a run, from buffers.
#pragma once

#include "api/cpp/execute_state.h"
#include "execute/data/generate.h"

namespace shoal::internal {

// Moves buffers that have no other owner. Fails if their number, types or dimensions are not those of the parameters.
shoal::Result<Arguments> ArgumentsOf(Buffers buffers, const ExecutableState& executable);

// The arrays of one value for each device, with tuples flattened.
Buffers BuffersOf(const std::vector<Value>& values);

}  // namespace shoal::internal
