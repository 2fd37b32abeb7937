#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

const MlirAttr* MlirOp::Find(std::string_view attr) const {
  for (const MlirNamedAttr& named : attrs)
    if (named.name == attr) return named.value;
  for (const MlirNamedAttr& named : attrs) {
    if (named.value->kind != MlirAttr::Kind::kDictionary || named.value->text.empty()) continue;
    for (const MlirNamedAttr& field : named.value->fields)
      if (field.name == attr) return field.value;
  }
  return nullptr;
}

}  // namespace shoal::internal
