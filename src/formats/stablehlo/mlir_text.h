// MLIR text of attributes and types.
#pragma once

#include <string>

#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

std::string AttrText(const MlirAttr& attr);
std::string TypeText(const MlirType& type);

}  // namespace shoal::internal
