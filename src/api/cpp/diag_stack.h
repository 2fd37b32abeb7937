// Adds to errors at instructions the part of the user's program from which the instruction originates.
#pragma once

#include <span>
#include <string>

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Appends the name of the op and the frames of the user's Python stack to the message of each error that is located at an
// instruction of the module, innermost frame first. Errors with the same origin as the error before get none.
// For `own_packages`, see IsInstalledFile.
Diags WithStacks(const Diags& diags, const Module& module, std::span<const std::string> own_packages = {});
Diag WithStack(const Diag& diag, const Module& module, std::span<const std::string> own_packages = {});

}  // namespace shoal::internal
