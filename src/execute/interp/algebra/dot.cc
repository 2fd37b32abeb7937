// dot and scaled-dot. Like XLA:CPU, uses f32 where operand_precision or algorithm would allow lower precision.
#include "kernels/linalg/dot_general.h"
#include "execute/interp/device.h"

namespace shoal::internal {
namespace {

ContractionDims DimsOf(const Instruction& hlo) {
  return {hlo[kLhsBatchDims], hlo[kRhsBatchDims], hlo[kLhsContractingDims], hlo[kRhsContractingDims]};
}

// XLA:CPU accumulates bf16 dots in f32, except dots that become bf16 after the work was divided between YNNPACK and XLA
// itself. XLA computes its own share of such dots entirely in bf16.
bool RoundsEachStepToBf16(const Call& call) {
  auto is_bf16 = [](const Shape& shape) { return shape.element_type() == ElementType::kBf16; };
  if (call.device.settings().numerics != Numerics::kXlaCpuYnnpack) return false;
  return !call.device.plans().Of(*call.hlo.parent).is_fused && is_bf16(call.hlo.shape()) &&
         is_bf16(call.hlo.operands[0]->shape()) && is_bf16(call.hlo.operands[1]->shape());
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kDot>(Call& call) {
  if (RoundsEachStepToBf16(call)) return Value(DotRoundingEachStep(call.array(0), call.array(1), DimsOf(call.hlo)));
  return Value(DotGeneral(call.array(0), call.array(1), DimsOf(call.hlo), call.hlo.shape().element_type()));
}

template <>
Result<Value> Evaluate<Opcode::kScaledDot>(Call& call) {
  const Array lhs = ApplyBlockScales(call.array(0), call.array(2)), rhs = ApplyBlockScales(call.array(1), call.array(3));
  return Value(DotGeneral(lhs, rhs, DimsOf(call.hlo), call.hlo.shape().element_type()));
}

}  // namespace shoal::internal
