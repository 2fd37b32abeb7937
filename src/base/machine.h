// What this machine has.
#pragma once

#include <cstdint>

namespace shoal {

// Bytes that this process may still take: what is free, within its limits and those of its group.
double AvailableMemory();

}  // namespace shoal
