// Warnings about generated values and deviations of a run, located at the first such instruction.
#pragma once

#include "core/base/diags.h"
#include "execute/interp/plan.h"
#include "execute/interp/run.h"

namespace shoal::internal {

// ElidedLiteralsError rejects literals that were elided from the dump. ElidedWarning reports that they were filled.
Diag ElidedLiteralsError(const ElidedLiterals& elided);
Diag ElidedWarning(const ElidedLiterals& elided);
// Mixed float types, loops that were exited, generated results.
Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed);

}  // namespace shoal::internal
