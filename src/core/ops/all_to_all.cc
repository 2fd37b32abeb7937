#include "core/ops/callee.h"
#include "core/ops/collective.h"
#include "core/ops/dims.h"

namespace shoal::internal {
namespace {

Status OneDimensionIfAny(const Instruction& hlo) { return hlo.has(kDimensions) ? OneDimension(hlo, "C1") : Status(); }

}  // namespace

Status Op<Opcode::kAllToAll>::Normalize(Instruction& hlo, Module&) { return OneDimensionIfAny(hlo); }

ShapeResult Op<Opcode::kAllToAll>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OneDimensionIfAny(hlo));
  const std::optional<int64_t> members = IdsPerGroup(hlo);
  SHOAL_TRY(OperandsAreArrays(hlo));
  const size_t n = hlo.operand_count();
  if (!hlo.has(kDimensions)) {
    if (n == 0 || (members && *members != static_cast<int64_t>(n)))
      return Broken(hlo, "C6", StrCat("takes one operand per device of a group of ", members.value_or(1), ", got ", n));
    for (const Instruction* operand : hlo.operands)
      if (!Compatible(hlo.operand_shape(0), operand->shape()))
        return Broken(hlo, "C7",
                      StrCat("operands must have the same shape, got ", Str(hlo.operand_shape(0)), " and ",
                             Str(operand->shape())));
    return shapes.Tuple(OperandShapes(hlo));
  }
  if (n != 1) return Broken(hlo, "C2", StrCat("takes 1 operand when dimensions are given, got ", n));
  const Shape& operand = hlo.operand_shape(0);
  SHOAL_TRY(DimsWithin(hlo, "C3", kDimensions, operand.rank()));
  const int64_t size = operand.dim(hlo[kDimensions][0]);
  if (members && size != kUnboundedSize && (*members <= 0 || size % *members != 0))
    return Broken(hlo, "C4",
                  StrCat("dimension ", hlo[kDimensions][0], " must be a multiple of the group's size ", *members,
                         ", got ", Str(operand)));
  for (int i = 0; i < operand.rank(); ++i)
    if (operand.is_dynamic(i) && operand.dim(i) != kUnboundedSize)
      return Broken(hlo, "C5", StrCat("operand must have static dimensions, got ", Str(operand)));
  return &operand;
}

Status Op<Opcode::kRaggedAllToAll>::Normalize(Instruction& hlo, Module&) { return OneDimensionIfAny(hlo); }

ShapeResult Op<Opcode::kRaggedAllToAll>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OneDimensionIfAny(hlo));
  if (hlo.operand_count() != 6) return Broken(hlo, "C2", StrCat("takes 6 operands, got ", hlo.operand_count()));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& offsets = hlo.operand_shape(2);
  if (offsets.rank() != 1 && offsets.rank() != 2)
    return Broken(hlo, "C3", StrCat("operands 2 to 5 must have rank 1 or 2, got ", Str(offsets)));
  for (size_t i = 3; i < 6; ++i)
    if (!Compatible(offsets, hlo.operand_shape(i)))
      return Broken(
          hlo, "C4",
          StrCat("operands 2 to 5 must have the same shape, got ", Str(offsets), " and ", Str(hlo.operand_shape(i))));
  return &hlo.operand_shape(1);
}

}  // namespace shoal::internal
