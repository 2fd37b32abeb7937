// Reads MLIR text: the pretty and the generic form of the ops in the table, and the generic form of all others.
#pragma once

#include "core/base/diags.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

// Null after an error in `diags`. The tree refers to `text`, which must outlive it. Truncated text is an error unless it
// is `loose`: then, its last function returns the results of its last complete op, with a warning.
std::unique_ptr<MlirModule> ParseMlirText(std::string_view text, Diags& diags, bool loose = false);

}  // namespace shoal::internal
