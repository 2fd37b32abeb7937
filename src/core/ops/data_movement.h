// Data movement: ops whose result consists of elements of their operands, so that a conversion commutes with them.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// The operands whose elements the result consists of: all of a concatenate, the first two of a pad. Empty for ops that
// compute, and for ops that change the element type. Includes collectives that only move data.
std::span<Instruction* const> MovedOperands(const Instruction& hlo);

}  // namespace shoal::internal
