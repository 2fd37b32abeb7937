// Infers the number of devices that a module is compiled for.
#pragma once

#include <optional>
#include <string>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

struct InferredGrid {
  DeviceGrid grid;
  std::string from;  // "8 devices, from replica_groups of all-reduce.3"
};

// Explicit counts take precedence, then a header with several replicas or partitions. Otherwise, returns the smallest
// grid that contains all ids in replica groups, source-target pairs and shardings.
InferredGrid InferDevices(const Module& module, std::optional<int64_t> num_replicas = {},
                          std::optional<int64_t> num_partitions = {});

}  // namespace shoal::internal
