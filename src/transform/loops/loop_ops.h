// Predicates on instructions that passes use.
#pragma once

#include <optional>

#include "core/ops/complex_ops.h"
#include "core/ops/families.h"

namespace shoal::internal {

// True if the op and its callees are deterministic and have no side effects: the op may be removed, shared and moved.
bool IsPureAndMovable(const Instruction& hlo);
// True if an instruction of the computation, or of one that it calls, must run even if its result is unused. Code that
// computes only the root must not replace such a computation.
bool HasEffects(const Computation& computation);

// True if a FusedKernel can compute the op element by element: an elementwise op or index map on arrays of static shape
// with element types that have vector code.
bool IsLoopOp(const Instruction& hlo);
// True if a FusedKernel can compute this concat-like op (core/ops/concat_like) with loops that are split at the operand
// boundaries (transform/loops/loop_splitting).
bool IsSplittableConcat(const Instruction& hlo);
// True if a FusedKernel can compute this reduction: one reorderable op with a neutral initial value, or an argmax or
// argmin that returns the number and its index.
bool IsLoopReduction(const Instruction& hlo);
// The same if a reduction with one operand had the initial value `init`.
bool IsLoopReduction(const Instruction& hlo, const Instruction& init);
// True if a FusedKernel can compute this reduce-window: a reduction as in IsLoopReduction, with small windows.
bool IsLoopWindow(const Instruction& hlo);
// True if a loop over the windows is efficient: they are small, and over a dilated base there are enough lanes. The loop
// reads all elements of a dilated window, of which most are holes.
bool IsEfficientWindow(const Window& window, const Shape& result);
// True if a FusedKernel can compute this reduce or reduce-window by applying its function to the elements in order, with
// lanes along a dimension that is kept. The function may have several results.
bool IsFunctionReduction(const Instruction& hlo);
// True if a FusedKernel can compute this reduce or reduce-window.
inline bool IsKernelReduction(const Instruction& hlo) {
  return IsLoopReduction(hlo) || IsLoopWindow(hlo) || IsFunctionReduction(hlo);
}
bool IsSingleElementConstant(const Instruction& hlo);
// If `computation` consists of one op that is applied to its two parameters, returns that op, else null.
const Instruction* OnlyOpOf(const Computation& computation);

// Recognizes an argmax (kMaximum) or argmin (kMinimum) reducer: (number, index, number, index) -> (number, index). It
// keeps a NaN, else the larger or smaller number. If both are equal, it keeps the first (if indices increase).
std::optional<Opcode> MatchArgMinMax(const Computation& computation);

// True for divisions, powers and transcendental functions such as exp: they cost more than reloading a stored value.
bool IsExpensive(Opcode opcode);

// Number of elements of the result; 0 if it is not static.
inline int64_t ElementsOf(const Instruction& hlo) { return hlo.shape().ElementCount().value_or(0); }

// Real element types that have vector code. Elementwise ops and index maps also support complex types; reductions and
// contractions do not.
bool IsLoopType(ElementType type);
inline bool IsLoopOrComplexType(ElementType type) { return IsLoopType(type) || IsComplex(type); }

}  // namespace shoal::internal
