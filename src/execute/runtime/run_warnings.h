// Warnings about generated values and other deviations of a run. Each is located at the first such instruction.
#pragma once

#include "core/base/diags.h"
#include "execute/interp/plan.h"
#include "execute/interp/run.h"

namespace shoal::internal {

// ElidedLiteralsError rejects literals that were elided from the dump. ElidedWarning reports generated replacements.
Diag ElidedLiteralsError(const ElidedLiterals& elided);
Diag ElidedWarning(const ElidedLiterals& elided);
// Warnings about mixed float types, endless loops that were exited, and generated results.
Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed);

}  // namespace shoal::internal
