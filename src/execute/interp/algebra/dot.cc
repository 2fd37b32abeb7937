// dot and scaled-dot. What operand_precision and algorithm allow to be less exact than f32 is computed in f32 all the
// same, as XLA's CPU backend does.
#include "kernels/linalg/dot_general.h"
#include "execute/interp/device.h"

namespace shoal::internal {
namespace {

ContractionDims DimsOf(const Instruction& hlo) {
  return {hlo[kLhsBatchDims], hlo[kRhsBatchDims], hlo[kLhsContractingDims], hlo[kRhsContractingDims]};
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

template <>
Result<Value> Evaluate<Opcode::kDot>(Call& call) {
  if (IsLeftInBf16(call)) return Value(DotRoundingEachStep(call.array(0), call.array(1), DimsOf(call.hlo)));
  return Value(DotGeneral(call.array(0), call.array(1), DimsOf(call.hlo), call.hlo.shape().element_type()));
}

template <>
Result<Value> Evaluate<Opcode::kScaledDot>(Call& call) {
  const Array lhs = ApplyBlockScales(call.array(0), call.array(2)), rhs = ApplyBlockScales(call.array(1), call.array(3));
  return Value(DotGeneral(lhs, rhs, DimsOf(call.hlo), call.hlo.shape().element_type()));
}

}  // namespace shoal::internal
