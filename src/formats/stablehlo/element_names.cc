#include "formats/stablehlo/element_names.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {

std::optional<ElementType> ElementTypeFromMlir(std::string_view name) {
  if (name == "i1") return ElementType::kPred;
  if (name == "index") return ElementType::kS64;
  if (name.starts_with("ui")) return ParseElementType(StrCat("u", name.substr(2)));
  if (name.starts_with("si")) return ParseElementType(StrCat("s", name.substr(2)));
  if (name.starts_with("i")) return ParseElementType(StrCat("s", name.substr(1)));
  if (!name.starts_with("f") && name != "bf16") return std::nullopt;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return ParseElementType(lower);
}

std::string MlirNameOf(ElementType type) {
  const std::string_view text = Text(type);
  if (type == ElementType::kPred) return "i1";
  if (IsSigned(type)) return StrCat("i", text.substr(1));
  if (IsUnsigned(type)) return StrCat("ui", text.substr(1));
  if (type == ElementType::kC64) return "complex<f32>";
  if (type == ElementType::kC128) return "complex<f64>";
  std::string name(text);
  // f8e4m3fn is f8E4M3FN in MLIR; f32 and bf16 have the same name.
  if (name.find('e') != name.npos)
    std::transform(name.begin() + 1, name.end(), name.begin() + 1, [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::optional<ElementType> ComplexOf(ElementType part) {
  if (part == ElementType::kF32) return ElementType::kC64;
  if (part == ElementType::kF64) return ElementType::kC128;
  return std::nullopt;
}

}  // namespace shoal::internal
