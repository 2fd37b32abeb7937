// MLIR text of attributes and types.
#pragma once

#include <string>

#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

std::string AttrText(const MlirAttr& attr);
void AppendAttrText(std::string& out, const MlirAttr& attr);
std::string QuotedText(std::string_view text);
std::string SymbolText(std::string_view name);
std::string FloatText(double value, ElementType type = ElementType::kF32);
std::string TypeText(const MlirType& type);

}  // namespace shoal::internal
