#include "core/ops/reduce.h"

#include <algorithm>
#include <numeric>

#include "core/ops/callee.h"
#include "core/ops/dims.h"
#include "core/ops/window.h"

namespace shoal::internal {
namespace {

// The operands of reduce and reduce-window: first the inputs, then an initial value for each of them.
struct ReductionOperands {
  std::vector<const Shape*> inputs, inits;
  std::vector<ElementType> types;
};

Status CheckEvenOperandCount(const Instruction& hlo) {
  if (hlo.operand_count() % 2 == 0) return {};
  return Broken(hlo, "C1", StrCat("takes an even number of operands, got ", hlo.operand_count()));
}

// Rules C1 to C3 of reduce and reduce-window.
Result<ReductionOperands> ReductionOperandsOf(const Instruction& hlo) {
  SHOAL_TRY(CheckEvenOperandCount(hlo));
  const size_t n = hlo.operand_count() / 2;
  if (n == 0) return Broken(hlo, "C2", "takes at least one input and its initial value, got none");
  SHOAL_TRY(OperandsAreArrays(hlo));
  ReductionOperands operands{OperandShapes(hlo, 0, n), OperandShapes(hlo, n, n), {}};
  for (size_t i = 0; i < n; ++i) {
    if (!SameDims(*operands.inputs[0], *operands.inputs[i]))
      return Broken(hlo, "C3",
                    StrCat("inputs must have the same dimensions, got ", Str(*operands.inputs[0]), " and ",
                           Str(*operands.inputs[i])));
    operands.types.push_back(operands.inputs[i]->element_type());
  }
  return operands;
}

const Shape* ArrayLike(const Shape& like, Ints dims, ElementType type, ShapePool& shapes) {
  DimList result;
  for (int i = 0; i < like.rank(); ++i) result.Add(dims[static_cast<size_t>(i)], like.is_dynamic(i));
  return result.Make(type, shapes);
}

// The common shape of the operands; a scalar is compatible with any shape of its type.
Result<const Shape*> MappedShape(const Instruction& hlo) {
  const Shape* common = &hlo.operand_shape(0);
  for (const Instruction* operand : hlo.operands) {
    const Shape& shape = operand->shape();
    if (SameDims(shape, *common)) continue;
    const bool types_match = SameTypeOrFloats(shape.element_type(), common->element_type());
    if (types_match && shape.IsScalar()) continue;
    if (!types_match || !common->IsScalar())
      return Broken(hlo, "C4",
                    StrCat("operands must have the same dimensions, got ", Str(*common), " and ", Str(shape)));
    common = &shape;
  }
  return common;
}

}  // namespace

bool HasWindow(const Instruction& hlo) { return hlo[kWindow] != nullptr && !hlo[kWindow]->dims.empty(); }

Status Op<Opcode::kMap>::Normalize(Instruction& hlo, Module& module) {
  if (hlo.shape_ != nullptr && !hlo.shape_->IsArray())
    return Broken(hlo, "C1", StrCat("must be an array, got ", Str(hlo.shape())));
  int rank = hlo.shape_ != nullptr ? hlo.shape().rank() : 0;
  if (hlo.shape_ == nullptr)
    for (const Instruction* operand : hlo.operands) rank = std::max(rank, operand->shape().rank());
  std::span<int64_t> all = module.arena.NewSpan<int64_t>(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  // If the shape is declared, the dimensions are ignored; otherwise they determine the shape.
  Ints dims = hlo[kDimensions];
  if (hlo.shape_ == nullptr && hlo.has(kDimensions) && !std::equal(dims.begin(), dims.end(), all.begin(), all.end()))
    return Broken(hlo, "C2", StrCat("dimensions must be ", Str(all), ", got ", Str(dims)));
  SetAttr(hlo, module, kDimensions, Ints(all));
  return {};
}

ShapeResult Op<Opcode::kMap>::Infer(const Instruction& hlo, ShapePool& shapes) {
  if (hlo.operand_count() == 0) return Broken(hlo, "C3", "takes at least one operand, got 0");
  SHOAL_TRY(OperandsAreArrays(hlo));
  SHOAL_ASSIGN(common, MappedShape(hlo));
  SHOAL_ASSIGN(callee, SignatureOf(hlo, kToApply));
  if (callee.parameters.size() != hlo.operand_count())
    return Broken(
        hlo, "C5",
        StrCat("to_apply must take ", Count(hlo.operand_count(), "parameter"), ", got ", callee.parameters.size()));
  if (!callee.result->IsScalar())
    return Broken(hlo, "C6", StrCat("to_apply must return a scalar, got ", Str(*callee.result)));
  for (size_t i = 0; i < callee.parameters.size(); ++i) {
    const ElementType type = hlo.operand_shape(i).element_type();
    if (!IsScalarOf(*callee.parameters[i], type))
      return Broken(
          hlo, "C7",
          StrCat("parameter ", i, " of to_apply must be ", Text(type), "[], got ", Str(*callee.parameters[i])));
  }
  return ArrayLike(*common, common->dims(), callee.result->element_type(), shapes);
}

Status Op<Opcode::kReduce>::Normalize(Instruction& hlo, Module&) { return CheckEvenOperandCount(hlo); }

ShapeResult Op<Opcode::kReduce>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(operands, ReductionOperandsOf(hlo));
  const Shape& input = *operands.inputs[0];
  SHOAL_TRY(DimsWithin(hlo, "C4", kDimensions, input.rank()));
  SHOAL_TRY(DimsDistinct(hlo, "C5", kDimensions));
  SHOAL_ASSIGN(reducer, SignatureOf(hlo, kToApply));
  SHOAL_TRY(CheckReducer(hlo, kToApply, reducer, operands.inits, operands.types, {"C6", "C7", "C8"}));

  DimList remaining;
  for (int64_t i = 0; i < input.rank(); ++i)
    if (!Contains(hlo[kDimensions], i)) remaining.AddFrom(input, i);
  if (reducer.result->IsScalar()) return remaining.Make(reducer.result->element_type(), shapes);
  std::vector<const Shape*> parts;
  for (const Shape* part : reducer.result->elements()) parts.push_back(remaining.Make(part->element_type(), shapes));
  return shapes.Tuple(parts);
}

Status Op<Opcode::kReduceWindow>::Normalize(Instruction& hlo, Module&) {
  SHOAL_TRY(CheckEvenOperandCount(hlo));
  if (hlo.operand_count() == 0) return Broken(hlo, "C2", "takes at least one input and its initial value, got none");
  return {};
}

ShapeResult Op<Opcode::kReduceWindow>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(operands, ReductionOperandsOf(hlo));
  SHOAL_ASSIGN(reducer, SignatureOf(hlo, kToApply));
  SHOAL_TRY(CheckReducer(hlo, kToApply, reducer, operands.inits, operands.types, {"C4", "C5", "C6"}));
  const Shape& input = *operands.inputs[0];
  SHOAL_ASSIGN(output_sizes, WindowedOutputDims(hlo, hlo[kWindow], input.dims(), {"C7", "C8", "C9"}));
  std::vector<const Shape*> parts;
  // The result has the type of the initial value. The reducer may use a wider type only for intermediate values.
  for (size_t i = 0; i < operands.inits.size(); ++i)
    parts.push_back(ArrayLike(*operands.inputs[i], output_sizes, operands.inits[i]->element_type(), shapes));
  if (reducer.result->IsScalar()) return parts[0];
  return shapes.Tuple(parts);
}

ShapeResult Op<Opcode::kSelectAndScatter>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 3));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& operand = hlo.operand_shape(0);
  const Shape& source = hlo.operand_shape(1);
  SHOAL_ASSIGN(select, SignatureOf(hlo, kSelect));
  if (select.parameters.size() != 2)
    return Broken(hlo, "C1", StrCat("select must take 2 parameters, got ", select.parameters.size()));
  if (!Compatible(*select.result, *shapes.Scalar(ElementType::kPred)))
    return Broken(hlo, "C2", StrCat("select must return pred[], got ", Str(*select.result)));
  for (const Shape* parameter : select.parameters)
    if (!IsScalarOf(*parameter, operand.element_type()))
      return Broken(
          hlo, "C3",
          StrCat("select must take ", Text(operand.element_type()), "[] like the operand, got ", Str(*parameter)));

  SHOAL_ASSIGN(scatter, SignatureOf(hlo, kScatter));
  const Shape* init = &hlo.operand_shape(2);
  const ElementType type = source.element_type();
  SHOAL_TRY(CheckReducer(hlo, kScatter, scatter, {&init, 1}, {&type, 1}, {"C4", "C5", "C6"}));
  SHOAL_ASSIGN(output_sizes, WindowedOutputDims(hlo, hlo[kWindow], operand.dims(), {"C7", "C8", "C9"}));
  const Shape* windows = ArrayLike(operand, output_sizes, operand.element_type(), shapes);
  if (!EqualExceptPrecision(source, *windows))
    return Broken(hlo, "C10",
                  StrCat("source must have one element per window, ", Str(*windows), ", got ", Str(source)));
  return &operand;
}

}  // namespace shoal::internal
