// Legality check for merging fusions that iterate over the same rows.
#pragma once

#include <span>

#include "core/ir/module.h"

namespace shoal::internal {

// True if one loop nest can compute all these fusions. `outputs` are the fusions with other users. All reductions must
// reduce the same rows, and ops that depend on a reduction use its result once per row. Reductions of columns are
// allowed too, but ops that depend on them must have one element per column.
//
// Without a reduction, all fusions must have the same number of elements and read each other at their own index.
bool CanFuseByRow(std::span<Instruction* const> fusions, std::span<Instruction* const> outputs);

}  // namespace shoal::internal
