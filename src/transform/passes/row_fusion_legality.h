// Fusions that go through the same rows.
#pragma once

#include <span>

#include "core/ir/module.h"

namespace shoal::internal {

// One loop nest can compute all these fusions, of which `outputs` are wanted: they reduce the same rows, and what depends
// on such a result takes it once per row. Columns are rows in this sense too, but what depends on their sums must have
// one element for each of them.
//
// Without any reduction: they have as many elements each, and take each other's at the place they are at themselves.
bool CanFuseByRow(std::span<Instruction* const> fusions, std::span<Instruction* const> outputs);

}  // namespace shoal::internal
