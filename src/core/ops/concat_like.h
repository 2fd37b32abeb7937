// Ops whose result is put together from operands that lie in it side by side: concatenate, and pad with nothing between
// the elements. result[i] = operand k [i - offset of k], where k depends on where i lies between borders.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

bool IsConcatLike(const Instruction& hlo);

// Where, along dimension d of the result, another operand begins: in order. A pad's may lie outside of the result.
std::vector<int64_t> OperandBoundaries(const Instruction& hlo, int64_t d);

// Which operand is at a place, given for the first dimensions how many borders lie at or before it; nothing where more
// dimensions must be known.
std::optional<size_t> OperandBetween(const Instruction& hlo, std::span<const size_t> borders_passed);

// Of an operand's first element along dimension d. Operands of rank 0 are everywhere.
int64_t OffsetAlong(const Instruction& hlo, size_t operand, int64_t d);

}  // namespace shoal::internal
