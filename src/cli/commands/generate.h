// Generated inputs, with a progress line.
#pragma once

#include "execute/data/generate.h"

namespace shoal::internal {

// `mode` is one of ArgumentModeNames.
Arguments Generate(const Module& module, const DeviceGrid& grid, const std::string& mode, uint64_t seed,
                   const Placement* placement = nullptr);

// Bytes of one device's results, saturating.
int64_t ResultBytes(const Module& module);

}  // namespace shoal::internal
