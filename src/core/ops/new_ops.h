// Ops that rewrites make: at the end of a computation, in the place and with the metadata of `instead_of`
// (core/ir/rewrite.h).
#pragma once

#include "core/ir/rewrite.h"

namespace shoal::internal {

Instruction* NewTuple(Module& module, Computation& computation, std::span<Instruction* const> elements,
                      const Instruction& instead_of);
Instruction* NewGetTupleElement(Module& module, Computation& computation, Instruction* tuple, int64_t index,
                                const Instruction& instead_of);
// The next one of the computation.
Instruction* NewParameter(Module& module, Computation& computation, const Shape* shape, const Instruction& instead_of);
Instruction* NewCall(Module& module, Computation& computation, Computation& callee, std::span<Instruction* const> arguments,
                     const Instruction& instead_of);
// Without its value, which the caller sets.
Instruction* NewConstant(Module& module, Computation& computation, const Shape* shape, const Instruction& instead_of);
Instruction* NewReshape(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                        const Instruction& instead_of);
Instruction* NewTranspose(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                          std::span<const int64_t> dimensions, const Instruction& instead_of);
// `dimensions`: those of the result that the operand's are.
Instruction* NewBroadcast(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                          std::span<const int64_t> dimensions, const Instruction& instead_of);
// Of dimension d every `stride`-th index from `start` to before `limit`.
struct SlicedDim {
  int64_t d, start, limit, stride = 1;
};
Instruction* NewSlice(Module& module, Computation& computation, Instruction* operand, const SlicedDim& sliced,
                      const Instruction& instead_of);
// Of a transpose that leaves every element where it is.
void TurnIntoReshape(Instruction& transpose, Module& module);

}  // namespace shoal::internal
