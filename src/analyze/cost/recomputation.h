// Recomputation: instructions that compute values a second time to save memory (rematerialization, checkpointing).
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// True if the op_name of the instruction has the scope in which jax.checkpoint recomputes, or its name has the suffix of
// XLA's rematerialization pass.
bool IsRecomputation(const Instruction& hlo);

}  // namespace shoal::internal
