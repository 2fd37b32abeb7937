// Reads MLIR bytecode: portable StableHLO artifacts (the vhlo dialect), with builtin, func and sdy.
#pragma once

#include "core/base/diags.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

// True if the bytes begin like MLIR bytecode.
bool IsMlirBytecode(std::string_view bytes);

// Null after an error in `diags`. The tree refers to `bytes`, which must outlive it.
std::unique_ptr<MlirModule> ParseMlirBytecode(std::string_view bytes, Diags& diags);

}  // namespace shoal::internal
