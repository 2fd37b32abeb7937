// Classes of ops for the label of a fusion, which summarizes its work in a few words.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// True for ops that move elements to other indices, which costs more than a change of indexing.
bool MovesElements(const Instruction& hlo);
// True for ops that are part of the label only if the fusion has no other ops.
bool IsTrivialOp(const Instruction& hlo);
// True for ops that change only the type, shape or layout of a value.
bool IsTypeOrLayoutChange(const Instruction& hlo);
// True for elementwise functions that have a name in formulas: exp, tanh.
bool IsNamedFunction(const Instruction& hlo);
// True for max(x, …), the op of a relu, and for x + …, the op of a bias.
bool IsMaximum(const Instruction& hlo);
bool IsSum(const Instruction& hlo);
// True for reductions that are limited by memory bandwidth: reduce, reduce-window.
bool IsMemoryBoundReduction(const Instruction& hlo);
// True for ops that read a slice of an array at an index that is an operand.
bool IsIndexedRead(const Instruction& hlo);

}  // namespace shoal::internal
