#include "core/ops/callee.h"
#include "core/ops/dims.h"
#include "core/ops/reduce.h"

namespace shoal::internal {

Status Op<Opcode::kSort>::Normalize(Instruction& hlo, Module&) { return OneDimension(hlo, "C1"); }

ShapeResult Op<Opcode::kSort>::Infer(const Instruction& hlo, ShapePool& shapes) {
  const size_t n = hlo.operand_count();
  if (n == 0) return Broken(hlo, "C2", "takes at least one operand, got 0");
  SHOAL_TRY(OneDimension(hlo, "C1"));
  SHOAL_TRY(OperandsAreArrays(hlo));
  SHOAL_ASSIGN(compare, SignatureOf(hlo, kToApply));
  if (!Compatible(*compare.result, *shapes.Scalar(ElementType::kPred)))
    return Broken(hlo, "C3", StrCat("to_apply must return pred[], got ", Str(*compare.result)));
  if (compare.parameters.size() != 2 * n)
    return Broken(hlo, "C4",
                  StrCat("to_apply must take ", Count(2 * n, "parameter"), ", got ", compare.parameters.size()));
  for (size_t i = 0; i < 2 * n; ++i) {
    const ElementType type = hlo.operand_shape(i / 2).element_type();
    if (!IsScalarOf(*compare.parameters[i], type))
      return Broken(
          hlo, "C5",
          StrCat("parameter ", i, " of to_apply must be ", Text(type), "[], got ", Str(*compare.parameters[i])));
  }

  const Shape& keys = hlo.operand_shape(0);
  for (const Instruction* operand : hlo.operands)
    if (!SameDims(keys, operand->shape()))
      return Broken(hlo, "C6",
                    StrCat("operands must have the same dimensions, got ", Str(keys), " and ", Str(operand->shape())));
  SHOAL_TRY(DimsWithin(hlo, "C7", kDimensions, keys.rank()));
  return OneOrTuple(OperandShapes(hlo), shapes);
}

ShapeResult Op<Opcode::kTopK>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  if (operand.rank() == 0) return Broken(hlo, "C1", StrCat("operand must have a dimension, got ", Str(operand)));
  const int64_t last = operand.rank() - 1;
  const int64_t k = hlo[kK];
  const bool fits = operand.dim(last) == kUnboundedSize || k <= operand.dim(last);
  if (k < 0 || !fits)
    return Broken(hlo, "C2", StrCat("k must lie in [0, ", operand.dim(last), "], the last dimension's size, got ", k));
  DimList dims;
  for (int64_t i = 0; i < last; ++i) dims.AddFrom(operand, i);
  dims.Add(k);
  const Shape* parts[] = {dims.Make(operand.element_type(), shapes), dims.Make(ElementType::kS32, shapes)};
  return shapes.Tuple(parts);
}

}  // namespace shoal::internal
