// Checks a module that was read without errors.
#pragma once

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Adds every broken rule to `diags`, in the order of the text. As strict as XLA's own verifier where that
// allows mixed precision and does not compare layouts; stricter only about layouts that do not fit their
// shape, aliases of different sizes, and devices that a collective-broadcast names twice. Changes nothing,
// but inferred shapes are made in the module's pool.
void Verify(Module& module, Diags& diags);

}  // namespace shoal::internal
