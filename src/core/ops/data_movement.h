// Data movement: ops whose result consists of elements of their operands, so that a conversion commutes with them.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// The operands whose elements the result consists of: all of a concatenate, the first two of a pad. Empty for ops that
// compute, and for ops that change the element type. Includes collectives that only move data.
std::span<Instruction* const> MovedOperands(const Instruction& hlo);

// True for a sum (or another reduction) over devices whose result type is that of its operands: all-reduce,
// reduce-scatter.
bool ReducesOverDevices(const Instruction& hlo);
// True for dot and convolution.
bool IsContraction(const Instruction& hlo);

}  // namespace shoal::internal
