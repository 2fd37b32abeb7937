// Ops whose result consists of adjacent operands: concatenate, and pad without interior padding.
// result[i] = operand k [i - offset of k], where k depends on the boundaries around i.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

bool IsConcatLike(const Instruction& hlo);

// Indices along dimension d of the result at which another operand begins, ascending. For pad they may be out of range.
std::vector<int64_t> OperandBoundaries(const Instruction& hlo, int64_t d);

// The operand that contains an index of the result. For each leading dimension, `boundaries_passed` is the number of
// boundaries at or before the index; no value if more dimensions are needed.
std::optional<size_t> OperandAt(const Instruction& hlo, std::span<const size_t> boundaries_passed);

// Index of an operand's first element along dimension d. Not meaningful for operands of rank 0, such as padding values.
int64_t OffsetAlong(const Instruction& hlo, size_t operand, int64_t d);

}  // namespace shoal::internal
