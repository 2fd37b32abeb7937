// Instruction: one HLO op in a computation. Small and arena-allocated; no accessor is specific to one op.
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "core/base/result.h"
#include "core/ir/attr.h"

namespace shoal::internal {

enum class Opcode : uint8_t;  // listed in core/ops/ops.def

class Instruction {
 public:
  std::string_view name;  // the name as written, without %
  const Shape* shape_ = nullptr;
  std::span<Instruction*> operands;
  std::span<NamedAttr> attrs;
  Computation* parent = nullptr;
  Opcode opcode{};
  uint32_t index = 0;  // position in the computation
  TextSpan at;         // the opcode in the user's text; kept through rewrites
  TextSpan name_at;

  const Shape& shape() const { return *shape_; }
  const Shape& operand_shape(size_t i) const { return operands[i]->shape(); }
  size_t operand_count() const { return operands.size(); }

  template <class T>
  bool has(const Attr<T>& key) const {
    return Find(key.id) != nullptr;
  }

  // The attribute's value, or the key's fallback.
  template <class T>
  T operator[](const Attr<T>& key) const {
    const AttrValue* value = Find(key.id);
    if (value == nullptr) return key.fallback;
    if constexpr (std::is_enum_v<T>) {
      const EnumValue* chosen = std::get_if<EnumValue>(value);
      return chosen == nullptr ? key.fallback : static_cast<T>(chosen->index);
    } else {
      const T* typed = std::get_if<T>(value);
      return typed == nullptr ? key.fallback : *typed;
    }
  }

  const AttrValue* Find(uint32_t id) const {
    for (const NamedAttr& attr : attrs)
      if (attr.id == id) return &attr.value;
    return nullptr;
  }
};

}  // namespace shoal::internal
