// What this machine has.
#pragma once

#include <cstdint>

namespace shoal::internal {

// Bytes of its memory; more cannot be had, whatever an allocation says at first.
int64_t PhysicalMemoryBytes();
// Bytes that this process may still take: what is free, within its limits and those of its group.
double AvailableMemory();

}  // namespace shoal::internal
