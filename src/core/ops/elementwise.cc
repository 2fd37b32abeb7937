#include "core/ops/elementwise.h"

#include "absl/container/inlined_vector.h"

namespace shoal::internal {
namespace {

uint8_t ClassOf(ElementType type) {
  switch (Info(type).cls) {
    case TypeClass::kBool:
      return types::kPred;
    case TypeClass::kSigned:
      return types::kSigned;
    case TypeClass::kUnsigned:
      return types::kUnsigned;
    case TypeClass::kFloat:
      return types::kFloat;
    case TypeClass::kComplex:
      return types::kComplex;
    case TypeClass::kNonArray:
      break;
  }
  return 0;
}

// "pred or integer"
std::string ClassNames(uint8_t classes) {
  std::vector<std::string_view> names;
  if (classes & types::kPred) names.push_back("pred");
  if ((classes & types::kInt) == types::kInt) {
    names.push_back("integer");
  } else if (classes & types::kSigned) {
    names.push_back("signed integer");
  }
  if (classes & types::kFloat) names.push_back("float");
  if (classes & types::kComplex) names.push_back("complex");
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    StrAppend(&out, i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  return out;
}

// Merges two compatible shapes: a dimension is dynamic if either is, and has a size if either has one.
const Shape* Merge(const Shape& a, const Shape& b, ElementType type, ShapePool& shapes) {
  if (&a.bare() == &b.bare() && !b.has_dynamic()) return a.element_type() == type ? &a : shapes.WithType(a, type);
  absl::InlinedVector<int64_t, 8> dims;
  absl::InlinedVector<bool, 8> dynamic;
  for (int i = 0; i < a.rank(); ++i) {
    const bool only_one_sized = (a.dim(i) == kUnboundedSize) != (b.dim(i) == kUnboundedSize);
    const Shape& sized = a.dim(i) == kUnboundedSize ? b : a;
    dims.push_back(sized.dim(i));
    dynamic.push_back(only_one_sized ? sized.is_dynamic(i) : a.is_dynamic(i) || b.is_dynamic(i));
  }
  return shapes.Array(type, dims, dynamic.data(), a.layout());
}

// The element type of the result for operands of type `operand`.
ElementType ResultElementType(ResultType result, ElementType operand) {
  const bool wide = operand == ElementType::kC128 || operand == ElementType::kF64;
  switch (result) {
    case ResultType::kSame:
      return operand;
    case ResultType::kPred:
      return ElementType::kPred;
    case ResultType::kRealPart:
      if (!IsComplex(operand)) return operand;
      return wide ? ElementType::kF64 : ElementType::kF32;
    case ResultType::kComplexOf:
      return wide ? ElementType::kC128 : ElementType::kC64;
  }
  return operand;
}

// The shape of all operands, if they have the same one and it is static; else null.
const Shape* CommonShape(const Instruction& hlo, uint8_t allowed) {
  const Shape* common = hlo.operands[0]->shape_;
  for (const Instruction* operand : hlo.operands.subspan(1))
    if (operand->shape_ != common) return nullptr;
  return !common->has_dynamic() && (ClassOf(common->element_type()) & allowed) ? common : nullptr;
}

}  // namespace

ShapeResult InferElementwise(const Instruction& hlo, ShapePool& shapes, uint8_t allowed, ResultType result) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape* merged = CommonShape(hlo, allowed);
  if (merged != nullptr && result == ResultType::kSame) return merged;
  SHOAL_TRY(OperandsAreArrays(hlo));
  merged = &hlo.operand_shape(0);
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Shape& operand = hlo.operand_shape(i);
    if (!(ClassOf(operand.element_type()) & allowed))
      return Broken(hlo, "C1",
                    StrCat("operand ", i, " must have ", ClassNames(allowed), " elements, got ", Str(operand)));
    if (!SameTypeOrFloats(merged->element_type(), operand.element_type()))
      return Broken(hlo, "C2",
                    StrCat("operands must have the same element type, got ", Str(*merged), " and ", Str(operand)));
    if (!SameDims(*merged, operand))
      return Broken(hlo, "C3",
                    StrCat("operands must have the same dimensions, got ", Str(*merged), " and ", Str(operand)));
    merged = Merge(*merged, operand, HigherPrecision(merged->element_type(), operand.element_type()), shapes);
  }
  if (result == ResultType::kSame) return merged;
  if (result == ResultType::kComplexOf) {
    for (const Instruction* operand : hlo.operands) {
      const ElementType type = operand->shape().element_type();
      const bool has_complex_type = type == ElementType::kF32 || type == ElementType::kF64;
      if (!has_complex_type || type != hlo.operand_shape(0).element_type())
        return Broken(hlo, "C4", StrCat("operands must both be f32 or both be f64, got ", Str(operand->shape())));
    }
  }
  return shapes.WithType(*merged, ResultElementType(result, merged->element_type()));
}

// XLA aborts if a tolerance is negative.
Status CheckResultAccuracy(const Instruction& hlo) {
  const ResultAccuracy* accuracy = hlo[kResultAccuracy];
  if (accuracy == nullptr || !accuracy->has_tolerance) return {};
  if (accuracy->atol >= 0 && accuracy->rtol >= 0 && accuracy->ulps >= 0) return {};
  return Broken(hlo, "C4",
                StrCat("tolerances of result_accuracy must not be negative, got atol=", accuracy->atol,
                       ",rtol=", accuracy->rtol, ",ulps=", accuracy->ulps));
}

ComparisonOrder DefaultOrder(ElementType type) {
  return IsFloat(type) || IsComplex(type) ? ComparisonOrder::kPartial : ComparisonOrder::kTotal;
}

bool Op<Opcode::kCompare>::HasUnusualOrder(const Instruction& hlo) {
  return hlo.operand_count() > 0 && hlo[kOrder] != DefaultOrder(hlo.operand_shape(0).element_type());
}

Status Op<Opcode::kCompare>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const ElementType operand = hlo.operand_shape(0).element_type();
  if (hlo.has(kOrder) && hlo.has(kType)) return Broken(hlo, "C5", "type and order are mutually exclusive, got both");
  auto set = [&](const auto& key, auto value) { SetAttr(hlo, module, key.id, EnumValue{static_cast<uint8_t>(value)}); };
  if (hlo.has(kType)) {
    set(kOrder, hlo[kType] == ComparisonType::kFloat ? ComparisonOrder::kPartial : ComparisonOrder::kTotal);
    return {};
  }
  const ComparisonOrder order = hlo.has(kOrder) ? hlo[kOrder] : DefaultOrder(operand);
  const bool is_float = IsFloat(operand) || IsComplex(operand);
  const ComparisonType total = is_float            ? ComparisonType::kTotalOrder
                               : IsSigned(operand) ? ComparisonType::kSigned
                                                   : ComparisonType::kUnsigned;
  if (!hlo.has(kOrder)) return {};
  set(kType, order == ComparisonOrder::kPartial ? ComparisonType::kFloat : total);
  return {};
}

ShapeResult Op<Opcode::kCompare>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(shape, InferElementwise(hlo, shapes, types::kAny, ResultType::kPred));
  if (!hlo.has(kOrder)) return shape;
  const ElementType operand = hlo.operand_shape(hlo.operand_count() - 1).element_type();
  if (hlo[kOrder] == ComparisonOrder::kPartial && DefaultOrder(operand) == ComparisonOrder::kTotal)
    return Broken(hlo, "C4", StrCat("order must be TOTAL for ", Text(operand), ", got PARTIAL"));
  return shape;
}

ShapeResult Op<Opcode::kClamp>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 3));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& operand = hlo.operand_shape(1);
  for (size_t i : {0, 2}) {
    const Shape& bound = hlo.operand_shape(i);
    if (!SameTypeOrFloats(bound.element_type(), operand.element_type()))
      return Broken(hlo, "C1",
                    StrCat("bounds must have the operand's element type, got ", Str(bound), " for ", Str(operand)));
    if (!bound.IsScalar() && !SameDims(bound, operand))
      return Broken(
          hlo, "C2",
          StrCat("bounds must be scalars or have the operand's dimensions, got ", Str(bound), " for ", Str(operand)));
  }
  return &operand;
}

ShapeResult Op<Opcode::kSelect>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 3));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& predicate = hlo.operand_shape(0);
  const Shape& on_true = hlo.operand_shape(1);
  const Shape& on_false = hlo.operand_shape(2);
  if (!SameTypeOrFloats(on_true.element_type(), on_false.element_type()) || !SameDims(on_true, on_false))
    return Broken(hlo, "C1",
                  StrCat("operands 1 and 2 must have the same shape, got ", Str(on_true), " and ", Str(on_false)));
  if (predicate.element_type() != ElementType::kPred)
    return Broken(hlo, "C2", StrCat("operand 0 must have pred elements, got ", Str(predicate)));
  if (!predicate.IsScalar() && !(SameDims(predicate, on_true) && SameDims(predicate, on_false)))
    return Broken(
        hlo, "C3",
        StrCat("operand 0 must be a scalar or have the dimensions of ", Str(on_true), ", got ", Str(predicate)));
  const ElementType type = HigherPrecision(on_true.element_type(), on_false.element_type());
  const Shape* result = Merge(on_true, on_false, type, shapes);
  if (predicate.IsScalar()) return result;
  // The result has the layout of the predicate.
  if (predicate.has_dynamic()) result = Merge(*result, predicate, type, shapes);
  return result->layout() == predicate.layout() ? result : shapes.WithLayout(*result, predicate.layout());
}

ShapeResult Op<Opcode::kConvert>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  if (!hlo.shape().IsArray()) return Broken(hlo, "C1", StrCat("the result must be an array, got ", Str(hlo.shape())));
  return shapes.WithType(hlo.operand_shape(0), hlo.shape().element_type());
}

ShapeResult Op<Opcode::kStochasticConvert>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 2));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& operand = hlo.operand_shape(0);
  const Shape& random = hlo.operand_shape(1);
  if (!hlo.shape().IsArray()) return Broken(hlo, "C1", StrCat("the result must be an array, got ", Str(hlo.shape())));
  if (!IsFloat(operand.element_type()))
    return Broken(hlo, "C2", StrCat("operand 0 must have float elements, got ", Str(operand)));
  if (!IsUnsigned(random.element_type()) || BitWidth(random.element_type()) != BitWidth(operand.element_type()))
    return Broken(hlo, "C3",
                  StrCat("operand 1 must have unsigned elements of ", BitWidth(operand.element_type()), " bits, got ",
                         Str(random)));
  if (!SameDims(operand, random))
    return Broken(hlo, "C4",
                  StrCat("operands must have the same dimensions, got ", Str(operand), " and ", Str(random)));
  return shapes.WithType(operand, hlo.shape().element_type());
}

ShapeResult Op<Opcode::kReducePrecision>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  if (!IsFloat(operand.element_type()))
    return Broken(hlo, "C1", StrCat("operand 0 must have float elements, got ", Str(operand)));
  if (hlo[kExponentBits] < 1)
    return Broken(hlo, "C2", StrCat("exponent_bits must be at least 1, got ", hlo[kExponentBits]));
  if (hlo[kMantissaBits] < 0)
    return Broken(hlo, "C3", StrCat("mantissa_bits must not be negative, got ", hlo[kMantissaBits]));
  return &operand;
}

}  // namespace shoal::internal
