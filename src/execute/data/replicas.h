// Checks that inputs agree on the devices that the shardings declare as replicas of each other.
#pragma once

#include "execute/data/generate.h"

namespace shoal::internal {

// The parameters, in words, whose arrays differ between devices that must have the same shard.
std::vector<std::string> DifferingReplicas(const Module& module, const DeviceGrid& grid, const Arguments& arguments);

}  // namespace shoal::internal
