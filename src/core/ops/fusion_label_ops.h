// What a fusion's ops come to when somebody says in a few words what it does.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// Moves elements, and costs more than a different way of counting them.
bool MovesElements(const Instruction& hlo);
// What remains to be said of a fusion that does nothing else.
bool IsTrivialOp(const Instruction& hlo);
// Only changes the form of a value.
bool IsTypeOrLayoutChange(const Instruction& hlo);
// An elementwise function that has a name of its own in a formula: exp, tanh.
bool IsNamedFunction(const Instruction& hlo);
// max(x, …), x + …: what a relu and a bias are made of.
bool IsMaximum(const Instruction& hlo);
bool IsSum(const Instruction& hlo);
// Folds elements at the speed of memory: reduce, reduce-window.
bool IsMemoryBoundReduction(const Instruction& hlo);
// A part of an array at a place that is data.
bool IsIndexedRead(const Instruction& hlo);

}  // namespace shoal::internal
