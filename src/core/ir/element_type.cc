#include "core/ir/element_type.h"

#include <array>

namespace shoal::internal {
namespace {

constexpr std::array<ElementTypeInfo, kElementTypeCount> MakeTable() {
  std::array<ElementTypeInfo, kElementTypeCount> table{};
#define TYPE(Name, text, number, bits, cls) \
  table[number] = {ElementType::k##Name, text, bits, TypeClass::cls, 0, 0, 0, FloatSpecials::kNone};
#define FLOAT(Name, text, number, bits, exponent, mantissa, bias, specials)                         \
  table[number] = {ElementType::k##Name,   text, bits, TypeClass::kFloat, exponent, mantissa, bias, \
                   FloatSpecials::specials};
#include "core/ir/element_types.def"
#undef TYPE
#undef FLOAT
  return table;
}

constexpr auto kTable = MakeTable();

}  // namespace

const ElementTypeInfo& Info(ElementType type) {
  auto number = static_cast<size_t>(type);
  return kTable[number < kTable.size() ? number : 0];
}

std::optional<ElementType> ParseElementType(std::string_view text) {
  // The common types first: this runs for every shape in a text.
  if (text == "f32") return ElementType::kF32;
  if (text == "bf16") return ElementType::kBf16;
  if (text == "s32") return ElementType::kS32;
  if (text.size() < 2 || text.size() > 13) return std::nullopt;
  for (const ElementTypeInfo& info : kTable)
    if (info.text == text) return info.type;
  return std::nullopt;
}

}  // namespace shoal::internal
