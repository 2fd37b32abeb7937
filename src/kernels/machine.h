// What the machine has.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace shoal {

// Bytes of its memory; more cannot be had, whatever an allocation says at first.
inline int64_t MachineBytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? pages * bytes : INT64_MAX;
}

}  // namespace shoal
