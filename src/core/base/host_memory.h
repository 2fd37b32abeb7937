// Memory of the machine that runs this process.
#pragma once

#include <cstdint>

namespace shoal::internal {

// Physical memory in bytes: an upper bound on usable memory, even if larger allocations succeed at first.
int64_t PhysicalMemoryBytes();
// Bytes this process can still allocate: free memory, capped by its resource limits and those of its cgroup.
double AvailableMemory();

}  // namespace shoal::internal
