// Element types of arrays, and the kinds of non-array shapes. Enumerator values match the protobuf format.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shoal::internal {

enum class ElementType : uint8_t {
  kInvalid = 0,
#define TYPE(Name, text, number, bits, cls) k##Name = number,
#define FLOAT(Name, text, number, bits, exponent, mantissa, bias, specials) k##Name = number,
#include "core/ir/element_types.def"
#undef TYPE
#undef FLOAT
};

enum class TypeClass : uint8_t { kNonArray, kBool, kSigned, kUnsigned, kFloat, kComplex };

// The bit patterns of a float type that are not finite numbers.
// kIeee: all-ones exponent holds inf and nan. kFn: no inf, nan is all ones. kFnuz: no inf, no minus zero, nan is the
// pattern of minus zero. kFnu: exponent bits only, nan is all ones. kFinite: every pattern is a number.
enum class FloatSpecials : uint8_t { kNone, kIeee, kFn, kFnuz, kFnu, kFinite };

struct ElementTypeInfo {
  ElementType type = ElementType::kInvalid;
  std::string_view text;
  uint8_t bits = 0;  // bits of one element in dense storage
  TypeClass cls = TypeClass::kNonArray;
  uint8_t exponent_bits = 0;
  uint8_t mantissa_bits = 0;
  int16_t exponent_bias = 0;
  FloatSpecials specials = FloatSpecials::kNone;
};

inline constexpr int kElementTypeCount = 37;

// The properties of `type`; for an undefined enumerator value, an entry with type kInvalid.
const ElementTypeInfo& Info(ElementType type);
std::optional<ElementType> ParseElementType(std::string_view text);

inline std::string_view Text(ElementType type) { return Info(type).text; }
inline bool IsArrayType(ElementType type) { return Info(type).cls != TypeClass::kNonArray; }
inline bool IsSigned(ElementType type) { return Info(type).cls == TypeClass::kSigned; }
inline bool IsUnsigned(ElementType type) { return Info(type).cls == TypeClass::kUnsigned; }
inline bool IsInteger(ElementType type) { return IsSigned(type) || IsUnsigned(type); }
inline bool IsFloat(ElementType type) { return Info(type).cls == TypeClass::kFloat; }
inline bool IsComplex(ElementType type) { return Info(type).cls == TypeClass::kComplex; }
inline int BitWidth(ElementType type) { return Info(type).bits; }
// Bytes of one element in a Literal or an .npy file: types narrower than a byte take a whole byte.
inline int StorageBytes(ElementType type) { return (Info(type).bits + 7) / 8; }

}  // namespace shoal::internal
