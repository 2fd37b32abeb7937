// Warnings about generated values and deviations of a run, located at the first such instruction.
#pragma once

#include "core/base/diags.h"
#include "execute/interp/plan.h"
#include "execute/interp/run.h"

namespace shoal::internal {

// For literals that were elided from the dump: rejected, or filled.
Diag ElidedLiteralsError(const ElidedLiterals& elided);
Diag ElidedWarning(const ElidedLiterals& elided);
// Mixed float types, loops that were exited, generated results.
Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed);

}  // namespace shoal::internal
