// Turns an MLIR tree into a Module, as XLA's own converter does: the same ops, attributes, shardings and aliases.
#pragma once

#include "core/base/diags.h"
#include "core/ir/module.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

struct ImportOptions {
  bool strict = false;  // deviations from what XLA accepts are errors
};

// Null after an error in `diags`. The module does not refer to the tree.
std::unique_ptr<Module> ImportMlir(const MlirModule& tree, const ImportOptions& options, Diags& diags);

}  // namespace shoal::internal
