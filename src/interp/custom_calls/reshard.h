// Between the shapes of all devices and of one: what JAX's shard_map becomes in a module that is not partitioned yet.
#pragma once

#include "ir/module.h"

namespace shoal {

// Whether the module goes from one to the other, so that outside of these regions every device has all of each array.
bool HasManualRegions(const Module& module);

}  // namespace shoal
