// All-gathers that are written as an all-reduce.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// True for an all-reduce that adds arrays in which only the device's own part is not zero: an all-gather, as
// PyTorch/XLA writes it between replicas. Each operand is a pad with zeros, or a dynamic-update-slice of zeros.
bool IsPaddedAllGather(const Instruction& hlo);

}  // namespace shoal::internal
