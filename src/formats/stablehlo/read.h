// Reads StableHLO as a Module: MLIR text, MLIR bytecode (portable artifacts), and the files that jax.export writes.
#pragma once

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// True if `bytes` begin like one of these files, and not like HLO text or a protobuf.
bool LooksLikeStablehlo(std::string_view bytes);

// Null after an error in `diags`; `source` then keeps the text.
std::unique_ptr<Module> ReadStablehlo(std::unique_ptr<Source>& source, bool strict, Diags& diags);

}  // namespace shoal::internal
