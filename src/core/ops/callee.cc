#include "core/ops/callee.h"

#include <algorithm>

namespace shoal::internal {

Result<Signature> SignatureOf(const Instruction& hlo, const Attr<Computation*>& key) {
  return SignatureOf(hlo, key.name, hlo[key]);
}

Result<Signature> SignatureOf(const Instruction& hlo, std::string_view key, const Computation* callee) {
  if (callee == nullptr) return Broken(hlo, "C0", StrCat(key, " must name a computation"));
  auto has_shape = [](const Instruction* part) { return part != nullptr && part->shape_ != nullptr; };
  if (!callee->defined || !has_shape(callee->root))
    return Broken(hlo, "C0", StrCat(key, " must name a computation with a root, got ", callee->name));
  Signature signature;
  for (const Instruction* parameter : callee->parameters) {
    if (!has_shape(parameter))
      return Broken(hlo, "C0",
                    StrCat(key, " must name a computation with all its parameters, but ", callee->name,
                           " has no parameter ", signature.parameters.size()));
    signature.parameters.push_back(&parameter->shape());
  }
  signature.result = &callee->root->shape();
  return signature;
}

bool EqualExceptPrecision(const Shape& a, const Shape& b) {
  if (a.IsArray() && b.IsArray()) return SameTypeOrFloats(a.element_type(), b.element_type()) && SameDims(a, b);
  if (a.element_type() != b.element_type()) return false;
  auto same = [](const Shape* s, const Shape* t) { return EqualExceptPrecision(*s, *t); };
  return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(), same);
}

bool IsScalarOf(const Shape& shape, ElementType type) {
  return shape.IsScalar() && SameTypeOrFloats(shape.element_type(), type);
}

Status CheckReducer(const Instruction& hlo, const Attr<Computation*>& key, const Signature& reducer,
                    std::span<const Shape* const> inits, std::span<const ElementType> elements,
                    const ReducerRules& rules) {
  const size_t n = inits.size();
  if (reducer.parameters.size() != 2 * n)
    return Broken(hlo, rules.parameter_count,
                  StrCat(key.name, " must take ", Count(2 * n, "parameter"), ", got ", reducer.parameters.size()));

  std::vector<const Shape*> accumulators{reducer.result};
  if (reducer.result->IsTuple())
    accumulators.assign(reducer.result->elements().begin(), reducer.result->elements().end());
  auto is_scalar = [](const Shape* shape) { return shape->IsScalar(); };
  if (accumulators.size() != n || !std::all_of(accumulators.begin(), accumulators.end(), is_scalar))
    return Broken(hlo, rules.result,
                  StrCat(key.name, " must return ", n == 1 ? "a scalar" : StrCat("a tuple of ", n, " scalars"),
                         ", got ", Str(*reducer.result)));

  for (size_t i = 0; i < n; ++i) {
    const Shape& accumulator = *accumulators[i];
    const Shape& element = *reducer.parameters[n + i];
    auto differ = [&](std::string_view requirement, const Shape& found) {
      return Broken(hlo, rules.types, StrCat(key.name, " returns ", Str(accumulator), requirement, Str(found)));
    };
    if (!Compatible(accumulator, *reducer.parameters[i]))
      return differ(StrCat(", so its parameter ", i, " must be the same, got "), *reducer.parameters[i]);
    if (!IsScalarOf(*inits[i], accumulator.element_type()))
      return differ(", so the initial value must be the same, got ", *inits[i]);
    if (!IsScalarOf(element, accumulator.element_type()))
      return differ(StrCat(", so its parameter ", n + i, " must be the same, got "), element);
    if (!SameTypeOrFloats(element.element_type(), elements[i]))
      return Broken(hlo, rules.types,
                    StrCat("parameter ", n + i, " of ", key.name, " must be ", Text(elements[i]),
                           "[] like the elements, got ", Str(element)));
  }
  return {};
}

Status CheckAliasing(const Instruction& hlo, const AliasRules& rules, AliasLeniency leniency) {
  for (const OutputOperandAlias& alias : hlo[kOutputToOperandAliasing]) {
    const auto count = static_cast<int64_t>(hlo.operand_count());
    if (alias.operand < 0 || alias.operand >= count)
      return Broken(hlo, rules.operand,
                    StrCat("output_to_operand_aliasing must name an operand in [0, ", count, "), got ", alias.operand));
    const Shape& operand = hlo.operand_shape(static_cast<size_t>(alias.operand));
    const Shape* input = operand.At(alias.operand_index);
    const Shape* output = hlo.shape().At(alias.output_index);
    if (input == nullptr || output == nullptr)
      return Broken(hlo, rules.index,
                    StrCat("output_to_operand_aliasing must name existing parts of operand and result, got ",
                           input == nullptr ? Str(alias.operand_index) : Str(alias.output_index), " in ",
                           input == nullptr ? Str(operand) : Str(hlo.shape())));
    if (leniency.any_shape) continue;
    bool same = leniency.buffers_as_arrays ? Compatible(ArrayIn(*input), ArrayIn(*output))
                                           : Compatible(*input, *output);
    if (!same)
      return Broken(hlo, rules.shape,
                    StrCat("aliased parts must have the same shape, got ", Str(*output), " for ", Str(*input),
                           " of operand ", alias.operand));
  }
  return {};
}

std::vector<const Shape*> OperandShapes(const Instruction& hlo, size_t first, size_t count) {
  std::vector<const Shape*> found;
  for (const Instruction* operand : hlo.operands.subspan(first, count)) found.push_back(&operand->shape());
  return found;
}

const Shape* OneOrTuple(std::span<const Shape* const> parts, ShapePool& shapes) {
  return parts.size() == 1 ? parts[0] : shapes.Tuple(parts);
}

}  // namespace shoal::internal
