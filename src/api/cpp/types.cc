#include "shoal/types.h"

#include "api/cpp/public_shape.h"
#include "core/ir/element_type.h"

namespace shoal::internal {
namespace {

#define TYPE(Name, text, number, bits, cls) \
  static_assert(static_cast<int>(shoal::ElementType::k##Name) == static_cast<int>(ElementType::k##Name));
#define FLOAT(Name, text, number, bits, exponent, mantissa, bias, specials) TYPE(Name, text, number, bits, cls)
#include "core/ir/element_types.def"
#undef TYPE
#undef FLOAT

void AddShape(const Shape& shape, shoal::Shape& out) {
  out.type = static_cast<shoal::ElementType>(shape.element_type());
  out.text = ToString(shape, /*with_layout=*/true);
  for (const Shape* element : shape.elements()) AddShape(*element, out.elements.emplace_back());
  if (!shape.IsArray()) return;
  out.dims.assign(shape.dims().begin(), shape.dims().end());
  for (int64_t i = 0; shape.has_dynamic() && i < shape.rank(); ++i) out.dynamic.push_back(shape.is_dynamic(i));
}

}  // namespace

shoal::Shape PublicShape(const Shape& shape) {
  shoal::Shape out;
  AddShape(shape, out);
  return out;
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::string_view Name(ElementType type) {
  const std::string_view text = internal::Text(static_cast<internal::ElementType>(type));
  return text.empty() ? "invalid" : text;
}

std::optional<ElementType> ParseElementType(std::string_view name) {
  const std::optional<internal::ElementType> type = internal::ParseElementType(name);
  if (!type) return std::nullopt;
  return static_cast<ElementType>(*type);
}

int ElementBytes(ElementType type) { return internal::StorageBytes(static_cast<internal::ElementType>(type)); }

}  // namespace shoal::inline v0_1
