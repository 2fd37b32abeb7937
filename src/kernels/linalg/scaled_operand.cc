// Implements ApplyBlockScales of dot_general.h.
#include "kernels/arrays/strided.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/linalg/dot_general.h"

namespace shoal::internal {
namespace {

// The type in which a quantised operand is multiplied by its scale: the wider of the two, at least 16 bits.
ElementType ScaledType(ElementType operand, ElementType scale) {
  if (BitWidth(operand) < 16 && BitWidth(scale) < 16) return ElementType::kBf16;
  if (BitWidth(operand) == BitWidth(scale)) return operand == scale ? operand : ElementType::kF32;
  return BitWidth(operand) > BitWidth(scale) ? operand : scale;
}

}  // namespace

Array ApplyBlockScales(const Array& operand, const Array& scale) {
  if (scale.rank() != operand.rank() || scale.rank() == 0) return operand;  // there is no scale
  const ElementType type = ScaledType(operand.type(), scale.type());
  Dims sizes;
  Strided from;
  const Dims strides = RowMajorStrides(scale.dims());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t blocks = scale.dim(d);
    if (blocks == 0) return Converted(operand, type);
    sizes.push_back(blocks);
    sizes.push_back(operand.dim(d) / blocks);
    from.strides.push_back(strides[static_cast<size_t>(d)]);
    from.strides.push_back(0);
  }
  const Array scales = Gathered(Converted(scale, type), std::move(sizes), from);
  Array scaled = Converted(operand, type);
  if (scales.count() != scaled.count()) return scaled;  // dynamic sizes are no longer compatible
  std::byte* out = scaled.mutable_data();
  const std::byte* in[] = {out, scales.data()};
  ElementLoopForBinary(Opcode::kMultiply, type).Run(out, in, scaled.count());
  return scaled;
}

}  // namespace shoal::internal
