#include "core/ops/rules.h"

#include <algorithm>
#include <tuple>

#include "absl/container/inlined_vector.h"

namespace shoal::internal {

bool AllDistinct(Ints ints) {
  absl::InlinedVector<int64_t, 8> sorted(ints.begin(), ints.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool AllWithin(Ints ints, int64_t low, int64_t high) {
  return std::all_of(ints.begin(), ints.end(), [=](int64_t i) { return low <= i && i < high; });
}

bool Contains(Ints ints, int64_t value) { return std::find(ints.begin(), ints.end(), value) != ints.end(); }

bool IsSorted(Ints ints) { return std::is_sorted(ints.begin(), ints.end()); }

Status OperandIsArray(const Instruction& hlo, size_t i) {
  if (i >= hlo.operand_count())
    return Broken(hlo, "C0", StrCat("operand ", i, " is missing, got ", Count(hlo.operand_count(), "operand")));
  if (!hlo.operand_shape(i).IsArray())
    return Broken(hlo, "C0", StrCat("operand ", i, " must be an array, got ", Str(hlo.operand_shape(i))));
  return {};
}

Status OperandsAreArrays(const Instruction& hlo) {
  for (size_t i = 0; i < hlo.operand_count(); ++i) SHOAL_TRY(OperandIsArray(hlo, i));
  return {};
}

Status OperandCount(const Instruction& hlo, size_t count) {
  if (hlo.operand_count() == count) return {};
  return Broken(hlo, "C0", StrCat("takes ", Count(count, "operand"), ", got ", hlo.operand_count()));
}

bool SameDims(const Shape& a, const Shape& b) {
  if (!a.IsArray() || !b.IsArray()) return false;
  if (&a == &b) return true;
  return std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end(),
                    [](int64_t x, int64_t y) { return x == y || x == kUnboundedSize || y == kUnboundedSize; });
}

bool SameTypeOrFloats(ElementType a, ElementType b) { return a == b || (IsFloat(a) && IsFloat(b)); }

ElementType HigherPrecision(ElementType a, ElementType b) {
  if (a == b) return a;
  // Compares ranges first, then precisions. The largest exponent is computed from the format, since formats without
  // infinities use the all-ones exponent for numbers.
  auto rank = [](ElementType type) {
    const ElementTypeInfo& info = Info(type);
    const bool all_ones_is_special = info.specials == FloatSpecials::kIeee || info.specials == FloatSpecials::kFnu;
    const int largest_exponent = (1 << info.exponent_bits) - info.exponent_bias - (all_ones_is_special ? 1 : 0);
    return std::tuple(largest_exponent, info.mantissa_bits, info.bits);
  };
  return rank(a) < rank(b) ? b : a;
}

const Shape* DimList::Make(ElementType type, ShapePool& shapes) const {
  absl::InlinedVector<bool, 8> dynamic(dynamic_.begin(), dynamic_.end());
  for (size_t i = 0; i < dims_.size(); ++i) dynamic[i] |= dims_[i] == kUnboundedSize;
  return shapes.Array(type, dims_, dynamic.data(), shapes.DefaultLayout(dims_.size()));
}

}  // namespace shoal::internal
