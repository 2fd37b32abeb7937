// Element types and shapes.
#pragma once

#include <optional>

#include "shoal/base.h"

namespace shoal::inline v0_1 {

// The numbers are those of XLA's PrimitiveType.
enum class ElementType : uint8_t {
  kInvalid = 0,
  kPred = 1, kS1 = 30, kS2 = 26, kS4 = 21, kS8 = 2, kS16 = 3, kS32 = 4, kS64 = 5,
  kU1 = 31, kU2 = 27, kU4 = 22, kU8 = 6, kU16 = 7, kU32 = 8, kU64 = 9,
  kF16 = 10, kBf16 = 16, kF32 = 11, kF64 = 12,
  kF8e3m4 = 29, kF8e4m3 = 28, kF8e4m3fn = 20, kF8e4m3b11fnuz = 23, kF8e4m3fnuz = 25, kF8e5m2 = 19, kF8e5m2fnuz = 24,
  kF8e8m0fnu = 33, kF6e3m2fn = 35, kF6e2m3fn = 36, kF4e2m1fn = 32,
  kC64 = 15, kC128 = 18,
  kToken = 17, kOpaque = 14, kTuple = 13, kBuffer = 34,
};

// "f32"; "invalid" for an undefined number.
SHOAL_API std::string_view Name(ElementType type);
SHOAL_API std::optional<ElementType> ParseElementType(std::string_view name);
// Bytes of an element in a buffer: types narrower than a byte take one byte each.
SHOAL_API int ElementBytes(ElementType type);

// The shape of a value. A tuple has `elements`; an array has `dims`.
struct Shape {
  ElementType type = ElementType::kInvalid;
  std::vector<int64_t> dims = {};
  std::vector<bool> dynamic = {};  // true: `dims` has the bound of this dimension; empty: all dimensions are static
  std::vector<Shape> elements = {};
  std::string text = {};  // as HLO text, with the layout: "f32[2,3]{1,0}"

  bool IsTuple() const { return type == ElementType::kTuple; }
  bool IsArray() const {
    return !IsTuple() && type != ElementType::kInvalid && type != ElementType::kToken && type != ElementType::kOpaque &&
           type != ElementType::kBuffer;
  }
};

}  // namespace shoal::inline v0_1
