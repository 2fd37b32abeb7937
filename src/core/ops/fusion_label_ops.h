// Classes of ops for the label of a fusion, which summarizes its work in a few words.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// Moves elements to other indices, which costs more than a change of indexing.
bool MovesElements(const Instruction& hlo);
// Part of the label only if the fusion has no other ops.
bool IsTrivialOp(const Instruction& hlo);
// Changes only the type, shape or layout of a value.
bool IsTypeOrLayoutChange(const Instruction& hlo);
// An elementwise function with a name in formulas: exp, tanh.
bool IsNamedFunction(const Instruction& hlo);
// max(x, …) and x + …, the ops of a relu and of a bias.
bool IsMaximum(const Instruction& hlo);
bool IsSum(const Instruction& hlo);
// Reductions that are limited by memory bandwidth: reduce, reduce-window.
bool IsMemoryBoundReduction(const Instruction& hlo);
// Reads a slice of an array at an index that is an operand.
bool IsIndexedRead(const Instruction& hlo);

}  // namespace shoal::internal
