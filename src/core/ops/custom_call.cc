#include <algorithm>
#include <map>

#include "core/ops/callee.h"
#include "core/ops/control_flow.h"

namespace shoal::internal {
namespace {

using CustomCall = Op<Opcode::kCustomCall>;

bool HasLayout(const Shape& shape) {
  if (shape.IsArray()) return shape.layout() != nullptr;
  return std::all_of(shape.elements().begin(), shape.elements().end(),
                     [](const Shape* part) { return HasLayout(*part); });
}

Status CheckVersion(const Instruction& hlo) {
  if (hlo[CustomCall::kApiVersion] != CustomCallApi::kUnspecified) return {};
  return Broken(hlo, "C1", "api_version must be a version, got API_VERSION_UNSPECIFIED");
}

// Rules C2 and C3. HLO text always has layouts; protobufs may omit them.
Status CheckOperandLayouts(const Instruction& hlo) {
  if (!hlo.has(CustomCall::kOperandLayouts)) return {};
  std::span<const Shape* const> layouts = hlo[CustomCall::kOperandLayouts];
  const bool have_layouts = HasLayout(hlo.shape()) &&
                            std::all_of(layouts.begin(), layouts.end(), [](const Shape* s) { return HasLayout(*s); });
  if (layouts.size() != hlo.operand_count() || !have_layouts)
    return Broken(hlo, "C2",
                  StrCat("operand_layout_constraints must have ", Count(hlo.operand_count(), "layout"), ", got ",
                         have_layouts ? StrCat(layouts.size()) : "shapes without layouts"));
  for (size_t i = 0; i < layouts.size(); ++i)
    if (!Compatible(*layouts[i], hlo.operand_shape(i)))
      return Broken(hlo, "C3",
                    StrCat("operand_layout_constraints must fit operand ", i, ", ", Str(hlo.operand_shape(i)), ", got ",
                           Str(*layouts[i])));
  return {};
}

void RemoveAttr(Instruction& hlo, uint32_t id) {
  auto end = std::remove_if(hlo.attrs.begin(), hlo.attrs.end(), [id](const NamedAttr& attr) { return attr.id == id; });
  hlo.attrs = hlo.attrs.first(static_cast<size_t>(end - hlo.attrs.begin()));
}

// Rule C8: Pin turns an array into a buffer, Unpin turns a buffer into an array, CreateBuffer creates a buffer.
Status CheckBufferCall(const Instruction& hlo) {
  const std::string_view target = hlo[CustomCall::kTarget];
  const size_t expected = target == "CreateBuffer" ? 0 : 1;
  const Shape* operand = hlo.operand_count() == 1 ? &hlo.operand_shape(0) : nullptr;
  const Shape& result = hlo.shape();
  bool fits = hlo.operand_count() == expected;
  if (target == "CreateBuffer") fits &= result.IsBuffer();
  if (target == "Pin")
    fits = fits && operand->IsArray() && result.IsBuffer() && Compatible(*operand, result.element(0));
  if (target == "Unpin")
    fits = fits && operand->IsBuffer() && result.IsArray() && Compatible(operand->element(0), result);
  if (fits && expected == 1) fits = hlo[kOutputToOperandAliasing].size() == 1;
  if (fits) return {};
  return Broken(hlo, "C8",
                StrCat(target,
                       target == "Pin"     ? " must return b(shape) for its only operand, shape, and alias it, got "
                       : target == "Unpin" ? " must return shape for its only operand, b(shape), and alias it, got "
                                           : " must return b(shape) without operands, got ",
                       Str(result), operand == nullptr ? "" : StrCat(" from ", Str(*operand))));
}

// Calls visit(index) for each buffer in `shape`.
template <class Visit>
void ForEachBuffer(const Shape& shape, ShapeIndex& index, const Visit& visit) {
  if (shape.IsBuffer()) visit(index);
  if (!shape.IsTuple()) return;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    ForEachBuffer(*shape.elements()[i], index, visit);
    index.pop_back();
  }
}

// Rule C9: each buffer in an operand is aliased with one buffer in the result, and vice versa.
Status CheckBuffersAliased(const Instruction& hlo) {
  std::map<std::pair<int64_t, ShapeIndex>, int> uses;  // operand -1: the result
  for (const OutputOperandAlias& alias : hlo[kOutputToOperandAliasing]) {
    ++uses[{alias.operand, ShapeIndex(alias.operand_index.begin(), alias.operand_index.end())}];
    ++uses[{-1, ShapeIndex(alias.output_index.begin(), alias.output_index.end())}];
  }
  std::string message;
  for (int64_t i = -1; i < static_cast<int64_t>(hlo.operand_count()); ++i) {
    ShapeIndex index;
    const Shape& shape = i < 0 ? hlo.shape() : hlo.operand_shape(static_cast<size_t>(i));
    ForEachBuffer(shape, index, [&](const ShapeIndex& at) {
      auto found = uses.find({i, at});
      const int count = found == uses.end() ? 0 : found->second;
      if (count != 1)
        message = StrCat("output_to_operand_aliasing must alias each buffer once, got ", count, " times for ",
                         i < 0 ? "the result" : StrCat("operand ", i), " at ", ToString(at));
    });
  }
  return message.empty() ? Status() : Status(Broken(hlo, "C9", std::move(message)));
}

bool SkipsAliasShapes(const Instruction& hlo) {
  auto attributes = hlo[kFrontendAttributes];
  return std::any_of(attributes.begin(), attributes.end(), [](const FrontendAttribute& attribute) {
    return attribute.name == "xla_skip_custom_call_alias_shape_check";
  });
}

}  // namespace

Status Op<Opcode::kCustomCall>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(CheckVersion(hlo));
  SHOAL_TRY(CheckOperandLayouts(hlo));
  // Drops called_computations if layouts are constrained; else to_apply becomes the only called computation.
  Computation* callee = hlo[kToApply];
  RemoveAttr(hlo, kToApply.id);
  if (hlo.has(kOperandLayouts)) {
    RemoveAttr(hlo, kCalledComputations.id);
  } else if (callee != nullptr) {
    std::span<Computation*> one = module.arena.NewSpan<Computation*>(1);
    one[0] = callee;
    SetAttr(hlo, module, kCalledComputations, Computations(one));
  }
  return {};
}

// The target determines the shape. Only layouts, aliases and the few targets that XLA knows can be checked.
ShapeResult Op<Opcode::kCustomCall>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(CheckVersion(hlo));
  const std::string_view target = hlo[kTarget];
  if (target != "LayoutConstraint" && target != "control_dep") SHOAL_TRY(CheckOperandLayouts(hlo));
  const bool pins = target == "Pin" || target == "Unpin";
  SHOAL_TRY(CheckAliasing(hlo, {"C4", "C5", "C6"}, {.any_shape = SkipsAliasShapes(hlo), .buffers_as_arrays = pins}));
  const bool is_seed = hlo.shape().IsScalar() && hlo.shape().element_type() == ElementType::kU64;
  if (target == "GetRngSeed" && (hlo.operand_count() != 0 || !is_seed))
    return Broken(
        hlo, "C7",
        StrCat("GetRngSeed must return u64[] and take no operands, got ", Str(hlo.shape()), " from ",
               Count(hlo.operand_count(), "operand")));
  SHOAL_TRY(pins || target == "CreateBuffer" ? CheckBufferCall(hlo) : CheckBuffersAliased(hlo));
  return hlo.shape_;
}

}  // namespace shoal::internal
