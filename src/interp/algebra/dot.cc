// dot and scaled-dot. What operand_precision and algorithm allow to be less exact than f32 is computed in f32 all the
// same, as XLA's CPU backend does.
#include "interp/algebra/product.h"
#include "interp/device.h"
#include "interp/elementwise/elementwise.h"
#include "kernels/strided.h"

namespace shoal {
namespace {

ProductDims DimsOf(const Instruction& hlo) {
  return {hlo[kLhsBatchDims], hlo[kRhsBatchDims], hlo[kLhsContractingDims], hlo[kRhsContractingDims]};
}

// The type in which a quantised operand is multiplied by its scale: the wider of the two, at least 16 bits.
ElementType ScaledType(ElementType operand, ElementType scale) {
  if (BitWidth(operand) < 16 && BitWidth(scale) < 16) return ElementType::kBf16;
  if (BitWidth(operand) == BitWidth(scale)) return operand == scale ? operand : ElementType::kF32;
  return BitWidth(operand) > BitWidth(scale) ? operand : scale;
}

// XLA:CPU has products in bf16 summed in f32, but for those that become bf16 after it has divided the work between
// YNNPACK and itself: what it then does itself, it does in bf16 throughout.
bool IsLeftInBf16(const Call& call) {
  auto is_bf16 = [](const Shape& shape) { return shape.element_type() == ElementType::kBf16; };
  if (call.device.settings().numerics != Numerics::kXlaCpuYnnpack) return false;
  return !call.device.plans().Of(*call.hlo.parent).is_fused && is_bf16(call.hlo.shape()) &&
         is_bf16(call.hlo.operands[0]->shape()) && is_bf16(call.hlo.operands[1]->shape());
}

}  // namespace

Array Scaled(const Array& operand, const Array& scale) {
  if (scale.rank() != operand.rank() || scale.rank() == 0) return operand;  // has no scale
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
  Array product = Converted(operand, type);
  if (scales.count() != product.count()) return product;  // of dynamic sizes that no longer fit
  std::byte* out = product.mutable_data();
  const std::byte* in[] = {out, scales.data()};
  BinaryKernel(Opcode::kMultiply, type).Run(out, in, product.count());
  return product;
}

template <>
Result<Value> Evaluate<Opcode::kDot>(Call& call) {
  if (IsLeftInBf16(call)) return Value(StepwiseProduct(call.array(0), call.array(1), DimsOf(call.hlo)));
  return Value(Product(call.array(0), call.array(1), DimsOf(call.hlo), call.hlo.shape().element_type()));
}

template <>
Result<Value> Evaluate<Opcode::kScaledDot>(Call& call) {
  const Array lhs = Scaled(call.array(0), call.array(2)), rhs = Scaled(call.array(1), call.array(3));
  return Value(Product(lhs, rhs, DimsOf(call.hlo), call.hlo.shape().element_type()));
}

}  // namespace shoal
