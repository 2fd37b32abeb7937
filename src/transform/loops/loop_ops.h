// Predicates on instructions, for passes.
#pragma once

#include <optional>

#include "core/ops/complex_ops.h"
#include "core/ops/families.h"

namespace shoal::internal {

// Deterministic and without side effects, also in called computations: it may be removed, shared and moved.
bool IsPureAndMovable(const Instruction& hlo);

// A FusedKernel can compute it element by element from its operands: an elementwise op or index map of static arrays
// with element types that have vector code.
bool IsLoopOp(const Instruction& hlo);
// A FusedKernel can compute this concat-like op (core/ops/concat_like), with its loops split at the operand boundaries
// (transform/loops/loop_splitting).
bool IsSplittableConcat(const Instruction& hlo);
// A FusedKernel can compute this reduction: either one reorderable op with a neutral initial value, or an argmax or
// argmin that returns the number and its index.
bool IsLoopReduction(const Instruction& hlo);
// A FusedKernel can compute this reduce-window: as IsLoopReduction, and its windows are small.
bool IsLoopWindow(const Instruction& hlo);
// A constant with exactly one element.
bool IsSingleElementConstant(const Instruction& hlo);
// The one op that `computation` applies to its two parameters; null if the computation has any other form.
const Instruction* OnlyOpOf(const Computation& computation);

// Recognizes an argmax (kMaximum) or argmin (kMinimum) reducer: (number, index, number, index) -> (number, index). It
// keeps the larger or smaller number, the first of equal numbers (if indices increase), or the first NaN. Else nothing.
std::optional<Opcode> MatchArgMinMax(const Computation& computation);

// A transcendental function such as exp or tanh, a division or a power: more expensive than reloading a stored value.
bool IsExpensive(Opcode opcode);

// Number of elements of the result; 0 if its shape does not have a static count.
inline int64_t ElementsOf(const Instruction& hlo) { return hlo.shape().ElementCount().value_or(0); }

// Real element types that have vector code. Elementwise ops and index maps also support complex types; reductions and
// contractions do not.
bool IsLoopType(ElementType type);
inline bool IsLoopOrComplexType(ElementType type) { return IsLoopType(type) || IsComplex(type); }

}  // namespace shoal::internal
