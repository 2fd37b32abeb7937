// bitcast and bitcast-convert: another shape or type for the same bits.
#include <algorithm>

#include "core/ops/index_ops.h"

namespace shoal::internal {
namespace {

// Size in bits if each element has `width` bits; no value if the size is unknown or overflows.
std::optional<int64_t> Bits(const Shape& shape, int64_t width) {
  const std::optional<int64_t> count = shape.ElementCount();
  int64_t bits = 0;
  if (!count || __builtin_mul_overflow(*count, width, &bits)) return std::nullopt;
  return bits;
}

int64_t StorageBits(const Shape& shape) {
  const Layout* layout = shape.layout();
  if (layout != nullptr && layout->element_size_in_bits > 0) return layout->element_size_in_bits;
  return int64_t{8} * StorageBytes(shape.element_type());
}

}  // namespace

ShapeResult Op<Opcode::kBitcast>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape& operand = hlo.operand_shape(0);
  const Shape& result = hlo.shape();
  if (Compatible(operand, result)) return hlo.shape_;
  if (operand.IsArray() && result.IsArray()) {
    // Narrow types may be packed even if the layout does not state it.
    if (Bits(operand, StorageBits(operand)) == Bits(result, StorageBits(result))) return hlo.shape_;
    if (Bits(operand, BitWidth(operand.element_type())) == Bits(result, BitWidth(result.element_type())))
      return hlo.shape_;
  }
  return Broken(hlo, "C1", StrCat("the result must have as many bytes as ", Str(operand), ", got ", Str(result)));
}

ShapeResult Op<Opcode::kBitcastConvert>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const ElementType from = operand.element_type();
  const ElementType to = hlo.shape().element_type();
  if (!IsArrayType(to) || IsComplex(from) != IsComplex(to))
    return Broken(hlo, "C1", StrCat("cannot convert ", Str(operand), " to ", Str(hlo.shape())));
  auto width = [](ElementType type) { return type == ElementType::kPred ? 8 : BitWidth(type); };
  const int wide = std::max(width(from), width(to));
  const int narrow = std::min(width(from), width(to));
  if (wide % narrow != 0)
    return Broken(hlo, "C2",
                  StrCat("the width of one type must be a multiple of the other width, got ", Text(from), " and ",
                         Text(to)));
  if (wide == narrow) return shapes.WithType(operand, to);
  const bool widens = width(from) < width(to);
  const int last = operand.rank() - 1;
  if (widens && (last < 0 || operand.dim(last) != wide / narrow))
    return Broken(hlo, "C3",
                  StrCat("the last dimension must be ", wide / narrow, " for ", Text(from), " to ", Text(to), ", got ",
                         Str(operand)));
  DimList dims;
  for (int i = 0; i < operand.rank() - (widens ? 1 : 0); ++i) dims.AddFrom(operand, i);
  if (!widens) dims.Add(wide / narrow);
  return dims.Make(to, shapes);
}

}  // namespace shoal::internal
