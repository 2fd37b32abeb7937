#include "core/ops/random.h"

namespace shoal::internal {

ShapeResult Op<Opcode::kRng>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 2));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const ElementType type = hlo.shape().element_type();
  for (const Instruction* operand : hlo.operands) {
    if (!operand->shape().IsScalar())
      return Broken(hlo, "C1", StrCat("operands must be scalars, got ", Str(operand->shape())));
    if (operand->shape().element_type() != type)
      return Broken(hlo, "C2",
                    StrCat("operands must have the result's element type, got ", Str(operand->shape()), " for ",
                           Str(hlo.shape())));
  }
  const RandomDistribution distribution = hlo[kDistribution];
  if (distribution == RandomDistribution::kInvalid)
    return Broken(hlo, "C3", "distribution must be rng_uniform or rng_normal, got rng_invalid");
  if (IsComplex(type) || (distribution == RandomDistribution::kNormal && !IsFloat(type)))
    return Broken(hlo, "C4",
                  StrCat(EnumNames<RandomDistribution>::kNames[static_cast<size_t>(distribution)],
                         IsComplex(type) ? " must not have complex elements" : " must have float elements", ", got ",
                         Str(hlo.shape())));
  return hlo.shape_;
}

ShapeResult Op<Opcode::kRngBitGenerator>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape& state = hlo.operand_shape(0);
  const Shape& result = hlo.shape();
  if (!result.IsTuple()) return hlo.shape_;  // only the bits: the older syntax
  if (result.elements().size() != 2)
    return Broken(hlo, "C1", StrCat("the result must be (state, bits), got ", Str(result)));
  if (!Compatible(result.element(0), state))
    return Broken(hlo, "C2",
                  StrCat("element 0 of the result must have the state's shape ", Str(state), ", got ", Str(result)));
  return hlo.shape_;
}

ShapeResult Op<Opcode::kRngGetAndUpdateState>::Infer(const Instruction&, ShapePool& shapes) {
  static constexpr int64_t kWords[] = {2};
  return shapes.Array(ElementType::kU64, kWords);
}

}  // namespace shoal::internal
