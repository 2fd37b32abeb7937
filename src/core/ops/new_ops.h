// Appends new ops to a computation, with the location and metadata of `instead_of` (core/ir/rewrite.h).
#pragma once

#include "core/ir/rewrite.h"

namespace shoal::internal {

Instruction* NewTuple(Module& module, Computation& computation, std::span<Instruction* const> elements,
                      const Instruction& instead_of);
Instruction* NewGetTupleElement(Module& module, Computation& computation, Instruction* tuple, int64_t index,
                                const Instruction& instead_of);
// The next parameter of the computation.
Instruction* NewParameter(Module& module, Computation& computation, const Shape* shape, const Instruction& instead_of);
Instruction* NewCall(Module& module, Computation& computation, Computation& callee, std::span<Instruction* const> arguments,
                     const Instruction& instead_of);
// A constant without its value, which the caller sets.
Instruction* NewConstant(Module& module, Computation& computation, const Shape* shape, const Instruction& instead_of);
Instruction* NewReshape(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                        const Instruction& instead_of);
Instruction* NewTranspose(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                          std::span<const int64_t> dimensions, const Instruction& instead_of);
// `dimensions`: for each dimension of the operand, the corresponding one of the result.
Instruction* NewBroadcast(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                          std::span<const int64_t> dimensions, const Instruction& instead_of);
// Every `stride`-th index in [start, limit) of dimension d.
struct SlicedDim {
  int64_t d, start, limit, stride = 1;
};
Instruction* NewSlice(Module& module, Computation& computation, Instruction* operand, const SlicedDim& sliced,
                      const Instruction& instead_of);
// Precondition: the transpose keeps the row-major order of the elements.
void TurnIntoReshape(Instruction& transpose, Module& module);
// Turns a reshape between row-major layouts, which moves no bytes, into a bitcast. Returns false for other ops.
bool TurnReshapeIntoBitcast(Instruction& hlo, Module& module);

}  // namespace shoal::internal
