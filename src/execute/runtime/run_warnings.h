// What a run had to make up or to leave out, as warnings with the place of the first such instruction.
#pragma once

#include "core/base/diags.h"
#include "execute/interp/plan.h"
#include "execute/interp/run.h"

namespace shoal::internal {

// Of literals that the dump elided: refused, or filled.
Diag ElidedLiteralsError(const ElidedLiterals& elided);
Diag ElidedWarning(const ElidedLiterals& elided);
// Types that were mixed, loops that were left, results that were made up.
Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed);

}  // namespace shoal::internal
