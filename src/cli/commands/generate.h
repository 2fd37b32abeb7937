// Inputs that nobody gave, made with a line of progress.
#pragma once

#include "execute/data/generate.h"

namespace shoal::internal {

// `mode` is one of ArgumentModeNames.
Arguments Generate(const Module& module, const DeviceGrid& grid, const std::string& mode, uint64_t seed,
                   const Placement* placement = nullptr);

// Of the arrays that one device gives, or as much as a number can say.
int64_t ResultBytes(const Module& module);

}  // namespace shoal::internal
