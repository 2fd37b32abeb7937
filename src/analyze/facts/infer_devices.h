// How many devices a module is for.
#pragma once

#include <optional>
#include <string>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

struct InferredGrid {
  DeviceGrid grid;
  std::string from;  // "8 devices, from replica_groups of all-reduce.3"
};

// What is given counts; then the header, where it says more than one of either; then what replica groups, permutations
// and shardings name, as large as they must be.
InferredGrid InferDevices(const Module& module, std::optional<int64_t> num_replicas = {},
                          std::optional<int64_t> num_partitions = {});

}  // namespace shoal::internal
