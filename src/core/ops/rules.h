// Building blocks of inference rules.
#pragma once

#include <string>

#include "core/base/strings.h"
#include "core/ops/op.h"

namespace shoal::internal {

using ShapeResult = Result<const Shape*>;

bool AllDistinct(Ints ints);
bool AllWithin(Ints ints, int64_t low, int64_t high);  // low <= each < high
bool Contains(Ints ints, int64_t value);
bool IsSorted(Ints ints);

// "f32[2,3]", without layout, for messages.
inline std::string Str(const Shape& shape) { return ToString(shape, /*with_layout=*/false); }
inline std::string Str(Ints ints) { return ToString(ints); }
// "1 operand", "2 operands"
inline std::string Count(size_t n, std::string_view noun) { return StrCat(n, " ", noun, n == 1 ? "" : "s"); }

// Rule C0 of every op that takes arrays: operand `i` must be an array.
Status OperandIsArray(const Instruction& hlo, size_t i);
Status OperandsAreArrays(const Instruction& hlo);
Status OperandCount(const Instruction& hlo, size_t count);

// True if the dimensions are equal, ignoring layouts and types. An unbounded dimension matches any size.
bool SameDims(const Shape& a, const Shape& b);
// XLA allows bf16 and f32 in one op. HigherPrecision returns the more precise of two float types.
bool SameTypeOrFloats(ElementType a, ElementType b);
ElementType HigherPrecision(ElementType a, ElementType b);

// The dimensions of a row-major result shape, some of which may be dynamic.
class DimList {
 public:
  void Add(int64_t size, bool dynamic = false) {
    dims_.push_back(size);
    dynamic_.push_back(dynamic ? 1 : 0);
  }
  void AddFrom(const Shape& shape, int64_t i) { Add(shape.dim(i), shape.is_dynamic(i)); }
  int64_t size() const { return static_cast<int64_t>(dims_.size()); }
  const Shape* Make(ElementType type, ShapePool& shapes) const;

 private:
  std::vector<int64_t> dims_;
  std::vector<char> dynamic_;
};

}  // namespace shoal::internal
