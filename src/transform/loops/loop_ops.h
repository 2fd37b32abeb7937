// Predicates on instructions, for passes.
#pragma once

#include <optional>

#include "core/ops/complex_ops.h"
#include "core/ops/families.h"

namespace shoal::internal {

// True if the op and its callees are deterministic and without side effects: it may be removed, shared and moved.
bool IsPureAndMovable(const Instruction& hlo);

// True if a FusedKernel can compute it element by element from its operands: an elementwise op or index map of static
// arrays with element types that have vector code.
bool IsLoopOp(const Instruction& hlo);
// True if a FusedKernel can compute this concat-like op (core/ops/concat_like), with its loops split at the operand
// boundaries (transform/loops/loop_splitting).
bool IsSplittableConcat(const Instruction& hlo);
// True if a FusedKernel can compute this reduction: either one reorderable op with a neutral initial value, or an
// argmax or argmin that returns the number and its index.
bool IsLoopReduction(const Instruction& hlo);
// True if a FusedKernel can compute this reduce-window: it meets IsLoopReduction, and its windows are small.
bool IsLoopWindow(const Instruction& hlo);
// True for a constant with exactly one element.
bool IsSingleElementConstant(const Instruction& hlo);
// Returns the only op of `computation`, applied to its two parameters; null if the computation has any other form.
const Instruction* OnlyOpOf(const Computation& computation);

// Recognizes an argmax (kMaximum) or argmin (kMinimum) reducer: (number, index, number, index) -> (number, index). It
// keeps the larger or smaller number, the first of equal numbers (if indices increase), or the first NaN.
std::optional<Opcode> MatchArgMinMax(const Computation& computation);

// True for transcendental functions such as exp or tanh, divisions and powers: costlier than reloading a stored value.
bool IsExpensive(Opcode opcode);

// Number of elements of the result; 0 if its shape does not have a static count.
inline int64_t ElementsOf(const Instruction& hlo) { return hlo.shape().ElementCount().value_or(0); }

// Real element types that have vector code. Elementwise ops and index maps also support complex types; reductions and
// contractions do not.
bool IsLoopType(ElementType type);
inline bool IsLoopOrComplexType(ElementType type) { return IsLoopType(type) || IsComplex(type); }

}  // namespace shoal::internal
