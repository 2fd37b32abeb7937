// The simplifications that XLA makes when it reads StableHLO: constants are folded and shared, ops without effect and
// unused ops disappear, and compositions of broadcasts, reshapes and transposes become one op.
#pragma once

#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

void SimplifyMlir(MlirModule& module);

}  // namespace shoal::internal
