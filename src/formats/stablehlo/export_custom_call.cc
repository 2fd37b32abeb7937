// Custom calls.
#include <algorithm>

#include "core/ops/control_flow.h"
#include "core/ops/transfer.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/exporter.h"
#include "formats/stablehlo/text_parser.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;
using CustomCall = Op<Opcode::kCustomCall>;

// True for a dictionary in MLIR's syntax, {a = 1 : i64}.
bool IsMlirDictionary(std::string_view text) {
  if (!text.starts_with('{')) return false;
  Diags diags;
  return ParseMlirText(StrCat("module attributes {a = ", text, "} {}"), diags) != nullptr;
}

// [dense<[1, 0]> : tensor<2xindex>, …]
std::string LayoutsText(std::span<const Shape* const> shapes) {
  std::string text = "[";
  for (const Shape* const& shape : shapes) {
    const Ints order = shape->layout() == nullptr ? Ints() : shape->layout()->minor_to_major;
    StrAppend(&text, &shape == shapes.data() ? "" : ", ", "dense<");
    for (const int64_t& d : order) StrAppend(&text, &d == order.data() ? "[" : ", ", d);
    StrAppend(&text, order.empty() ? "" : "]", "> : tensor<", order.size(), "xindex>");
  }
  return text + "]";
}

std::string AliasesText(std::span<const OutputOperandAlias> aliases) {
  auto list = [](Ints ints) {
    std::string text = "[";
    for (const int64_t& value : ints) StrAppend(&text, &value == ints.data() ? "" : ", ", value);
    return text + "]";
  };
  std::string text = "[";
  for (const OutputOperandAlias& alias : aliases)
    StrAppend(&text, &alias == aliases.data() ? "" : ", ", "#stablehlo.output_operand_alias<output_tuple_indices = ",
              list(alias.output_index), ", operand_index = ", alias.operand,
              ", operand_tuple_indices = ", list(alias.operand_index), ">");
  return text + "]";
}

// True if an operand or result is not row-major.
bool HasLayout(const Instruction& hlo) {
  auto has_layout = [](const Shape& shape) {
    const auto leaves = LeafShapes(shape);
    return std::any_of(leaves.begin(), leaves.end(), [](const Shape* leaf) { return !LayoutText(*leaf).empty(); });
  };
  return has_layout(hlo.shape()) || std::any_of(hlo.operands.begin(), hlo.operands.end(),
                                                [&](const Instruction* operand) { return has_layout(operand->shape()); });
}

Status AddBackendConfig(Exporter& exporter, const Instruction& hlo, Exporter::Attrs& attrs) {
  const std::string_view config = hlo[kBackendConfig];
  if (hlo[CustomCall::kApiVersion] != CustomCallApi::kTypedFfi) {
    if (!config.empty()) attrs.push_back({"backend_config", exporter.TextAttr(Kind::kString, config)});
    return {};
  }
  if (config.empty()) return {};
  if (!IsMlirDictionary(config)) return exporter.Refused(hlo, "a typed backend_config must be a dictionary of MLIR");
  attrs.push_back({"backend_config", exporter.TextAttr(Kind::kOpaque, config)});
  return {};
}

}  // namespace

Status ExportCustomCall(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  const uint32_t handled[] = {CustomCall::kTarget.id,         CustomCall::kOperandLayouts.id, CustomCall::kHasSideEffect.id,
                              kOutputToOperandAliasing.id,    CustomCall::kSchedule.id,       CustomCall::kApiVersion.id,
                              CustomCall::kCalledComputations.id};
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, handled));
  if (!hlo.has(CustomCall::kOperandLayouts) && !IsAnnotation(hlo) && HasLayout(hlo))
    return exporter.Refused(hlo, "without operand_layout_constraints, layouts of a custom call have no StableHLO form");
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  SHOAL_ASSIGN(types, exporter.ResultTypes(hlo.shape(), /*keep_single=*/true));
  Exporter::Attrs attrs{{"call_target_name", exporter.TextAttr(Kind::kString, hlo[CustomCall::kTarget])}};
  const auto version = static_cast<int64_t>(hlo[CustomCall::kApiVersion]);
  if (version != 1) attrs.push_back({"api_version", exporter.IntAttr(version, ElementType::kS32)});
  SHOAL_TRY(AddBackendConfig(exporter, hlo, attrs));
  if (const Computations called = hlo[CustomCall::kCalledComputations]; !called.empty()) {
    std::string text = "[";
    for (Computation* const& computation : called) {
      SHOAL_ASSIGN(name, exporter.FunctionOf(*computation));
      StrAppend(&text, &computation == called.data() ? "@" : ", @", name);
    }
    attrs.push_back({"called_computations", exporter.TextAttr(Kind::kOpaque, text + "]")});
  }
  if (hlo[CustomCall::kSchedule] != CustomCallSchedule::kNone)
    attrs.push_back({"custom_call_schedule", exporter.IntAttr(static_cast<int64_t>(hlo[CustomCall::kSchedule]), ElementType::kS32)});
  if (hlo[CustomCall::kHasSideEffect]) attrs.push_back({"has_side_effect", exporter.BoolAttr(true)});
  if (hlo.has(CustomCall::kOperandLayouts)) {
    const bool is_tuple = types.size() != 1;
    const Shape* const one[] = {hlo.shape_};
    attrs.push_back({"operand_layouts", exporter.TextAttr(Kind::kOpaque, LayoutsText(hlo[CustomCall::kOperandLayouts]))});
    attrs.push_back({"result_layouts", exporter.TextAttr(Kind::kOpaque, LayoutsText(is_tuple ? hlo.shape().elements() : one))});
  }
  if (!hlo[kOutputToOperandAliasing].empty())
    attrs.push_back({"output_operand_aliases", exporter.TextAttr(Kind::kOpaque, AliasesText(hlo[kOutputToOperandAliasing]))});
  exporter.SetResults(hlo, *exporter.Add(row, hlo, operands, std::move(attrs), types));
  return {};
}

}  // namespace shoal::internal
