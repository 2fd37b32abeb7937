// A module as a tree of StableHLO ops. Some of HLO has no such form: layouts inside the program, names, the schedule and
// the backend_config of an op are left out, and an op or attribute that the result would depend on is an error.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/ir/module.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

Result<std::unique_ptr<MlirModule>> ExportMlir(const Module& module);

}  // namespace shoal::internal
