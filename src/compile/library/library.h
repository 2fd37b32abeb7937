// Library functions: parallel implementations of instructions over whole arrays, such as dots, convolutions, sorts,
// prefix sums and transforms. The loops are in kernels/ and do not depend on instructions. A library function reads the
// attributes of the instruction and calls these loops.
//
// To add one, write a function of this type in the file of its family in compile/library and add a row to table.cc.
//   - `operands` are row-major arrays, as in the interpreter. Other instructions may read them too.
//   - `results` are allocated with the declared shape of the instruction, but not initialized.
//   - Split the work on the pool only by the shape of the data (core/base/thread_pool.h explains why). Run small work
//     as one task: below about 10 µs, starting threads costs more than it saves.
//   - Values must match the interpreter, except for the order of float sums; integers, comparisons and moves are exact.
//     tests/engine compares both on every op.
#pragma once

#include <memory>
#include <span>

#include "core/base/thread_pool.h"
#include "core/ir/instruction.h"
#include "kernels/arrays/array.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

using LibraryFunction = Status (*)(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results,
                                   ThreadPool& pool);

// The library function for an instruction, depending on its op, types, shapes and attributes. If null, the interpreter
// computes the instruction.
LibraryFunction LibraryFunctionOf(const Instruction& hlo);

// A library function that applies the function of the instruction (to_apply) to blocks of elements. `function` is the code
// of LaneKernelOf(to_apply).
using AppliedLibraryFunction = Status (*)(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results,
                                          KernelCode function, ThreadPool& pool);

// As above, for instructions without a LibraryFunction.
AppliedLibraryFunction AppliedLibraryFunctionOf(const Instruction& hlo);

// A library function for one instruction, with everything computed in advance that does not depend on the operands.
class PreparedFunction {
 public:
  virtual ~PreparedFunction() = default;
  // `buffers`: the elements of the operands, then of the results. Several threads may call it.
  virtual void Run(void* const* buffers, ThreadPool& pool) const = 0;
};

// Computes the same as LibraryFunctionOf; null if preparing would save nothing, or for large operands.
std::unique_ptr<const PreparedFunction> PreparedFunctionOf(const Instruction& hlo);

// True if the library function updates its first operands in place. results[k] then holds the elements of operand k, in
// the operand's own buffer if that buffer has no other owner, and operands[k] is empty.
bool UpdatesOperand(const Instruction& hlo);

}  // namespace shoal::internal
