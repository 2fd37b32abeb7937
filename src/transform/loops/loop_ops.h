// What passes ask about an instruction.
#pragma once

#include <optional>

#include "core/ops/complex_ops.h"
#include "core/ops/families.h"

namespace shoal::internal {

// Gives its value and does nothing else, the same every time: it may be dropped, shared and moved.
bool IsPureAndMovable(const Instruction& hlo);

// One loop nest of ours can compute it from its operands, element by element: elementwise ops and index maps of static
// arrays of numbers that have vector code.
bool IsLoopOp(const Instruction& hlo);
// The same of an op that puts operands side by side (ops/placed_operands): by a loop nest that is cut where one operand
// ends and the next begins (passes/loop_pieces).
bool IsSplittableConcat(const Instruction& hlo);
// The same of a reduction: one op that may be reordered, from a neutral initial value; or the first of the largest or
// smallest numbers, together with its index.
bool IsLoopReduction(const Instruction& hlo);
// The same of a reduce-window whose windows are small.
bool IsLoopWindow(const Instruction& hlo);
// A constant with exactly one element.
bool IsSingleElementConstant(const Instruction& hlo);
// The one op that `computation` applies to its two parameters; nothing if it is anything else.
const Instruction* OnlyOpOf(const Computation& computation);

// Of a function (number, index, number, index) -> (number, index) that keeps the larger number (kMaximum) or the smaller
// one (kMinimum), the first of equal ones, and the first nan, where the second index is the larger one; else nothing.
std::optional<Opcode> MatchArgMinMax(const Computation& computation);

// A function such as exp or tanh, a division or a power: dearer than reading a value that was written down.
bool IsExpensive(Opcode opcode);

// How many elements the result has; none where its shape does not say.
inline int64_t ElementsOf(const Instruction& hlo) { return hlo.shape().ElementCount().value_or(0); }

// Real numbers that vector code of ours computes with. Elementwise ops and index maps take complex ones, too; what
// reduces or multiplies matrices does not.
bool IsLoopType(ElementType type);
inline bool IsLoopOrComplexType(ElementType type) { return IsLoopType(type) || IsComplex(type); }

}  // namespace shoal::internal
