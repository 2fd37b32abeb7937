// Library steps: instructions that a function of ours computes over whole arrays, in parallel: products, convolutions,
// sorts, prefix sums, transforms. The loops themselves are in kernels/ and know no instruction; a row here reads the
// instruction's attributes and calls them.
//
// To add one: a function of this type in the file of its family in program/library/, and its row in library/table.cc.
//   - `operands` are arrays in row-major order, as the interpreter has them, and may be read by other steps too.
//   - `results` are allocated, with the shape the instruction declares, and not yet written.
//   - Cut the work with the pool by the shape of the data alone (core/base/thread_pool.h says why), and let small work be one
//     task: below some 10 µs handing over costs more than it saves.
//   - Values are those of the interpreter up to the order of sums of floats; integers, comparisons and moves are exact.
//     tests/engine compares both on every op.
#pragma once

#include <span>

#include "core/base/thread_pool.h"
#include "core/ir/instruction.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

using LibraryFunction = Status (*)(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results,
                                   ThreadPool& pool);

// The function for this very instruction, looked up by op, types, shapes and attributes; null where there is none, and
// then the interpreter computes it.
LibraryFunction LibraryFunctionOf(const Instruction& hlo);

// Whether that function changes its first operand: results[0] then comes with the operand's bytes, which are the
// operand's own where nobody else holds them, and operands[0] is empty.
bool UpdatesOperand(const Instruction& hlo);

}  // namespace shoal::internal
