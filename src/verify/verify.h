// Checks a module that was read without errors.
#pragma once

#include "base/diags.h"
#include "ir/module.h"

namespace shoal {

// Adds every broken rule to `diags`, in the order of the text. At least as lenient as XLA's own verifier
// where that does not look at layouts. Changes nothing; inferred shapes are made in the module's pool.
void Verify(Module& module, Diags& diags);

}  // namespace shoal
