// What a run had to make up or to leave out, as warnings with the place of the first such instruction.
#pragma once

#include "core/base/diags.h"
#include "execute/interp/plan.h"
#include "execute/interp/run.h"

namespace shoal {

// Of literals that the dump elided: refused, or filled.
Diag ElidedFault(const ElidedLiterals& elided);
Diag ElidedWarning(const ElidedLiterals& elided);
// Types that were mixed, loops that were left, results that were made up.
Diags LibertiesOf(const RunStats& stats, const MixedFloats& mixed);

}  // namespace shoal
