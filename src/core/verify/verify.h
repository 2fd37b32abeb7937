// Checks a module that was parsed without errors.
#pragma once

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Adds an error to `diags` for every broken rule, in text order. As strict as XLA's own verifier with mixed precision
// allowed and without comparison of layouts. Stricter only about three things: layouts that are invalid for their
// shape, aliases of different sizes, and devices that a collective-broadcast names twice. Does not change the module,
// except that inferred shapes are added to its shape pool.
void Verify(Module& module, Diags& diags);

}  // namespace shoal::internal
