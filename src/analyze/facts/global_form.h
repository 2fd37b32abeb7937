// Modules before SPMD partitioning.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// If the module is in global form, the first instruction with a sharding that divides an array, else null. In global
// form, shapes are those of whole arrays, and the collectives that the shardings imply are missing. A partitioned
// module may keep its shardings: XLA marks it by the suffix _spmd of the entry computation's name.
const Instruction* FirstGlobalSharding(const Module& module);

}  // namespace shoal::internal
