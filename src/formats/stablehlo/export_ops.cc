// What all ops share: their attributes, and the ops that are one HLO op.
#include <algorithm>

#include "core/ir/module_shardings.h"
#include "core/ops/collective.h"
#include "core/ops/traits.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/exporter.h"

namespace shoal::internal {

Diag Exporter::Refused(const Instruction& hlo, std::string message, Site site) {
  return Fail(hlo.at, "stablehlo.form", StrCat(OpcodeTextOf(hlo), ": ", message), site);
}

MlirOp* Exporter::Add(const MlirOpInfo& row, const Instruction& hlo, std::span<MlirValue* const> operands, Attrs attrs,
                      const Types& results, std::vector<MlirRegion> regions) {
  AddCommonAttrs(hlo, attrs);
  MlirOp* op = arena().New<MlirOp>();
  op->name = row.name;
  op->info = FindMlirOp(row.name);
  op->at = hlo.at;
  op->operands = arena().Copy(operands);
  op->attrs = arena().Copy(attrs);
  op->regions = arena().Copy(regions);
  op->location = LocationOf(hlo[kMetadata]);
  op->results = arena().NewSpan<MlirValue>(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    MlirValue value;
    value.type = results[i];
    value.owner = op;
    value.index = static_cast<uint32_t>(i);
    new (&op->results[i]) MlirValue(value);
  }
  ops_->push_back(op);
  return op;
}

// Loose text may lack operands and attributes.
Status Exporter::CheckIsComplete(const Instruction& hlo) {
  const OpInfo& info = Info(hlo.opcode);
  if (info.arity >= 0 && static_cast<size_t>(info.arity) != hlo.operand_count())
    return Refused(hlo, StrCat("the op takes ", info.arity, " operands, got ", hlo.operand_count()));
  for (const AttrDef& def : info.attrs) {
    const bool required = def.required && (def.not_required_if == nullptr || !def.not_required_if(hlo));
    if (required && hlo.Find(def.id) == nullptr) return Refused(hlo, StrCat("the attribute ", def.name, " is missing"));
  }
  return {};
}

namespace {

// Attributes that the results do not depend on, and those that every op writes in its own way.
bool IsLeftOut(uint32_t id) {
  static constexpr uint32_t kIds[] = {kSharding.id,   kFrontendAttributes.id, kMetadata.id,
                                      kStatistics.id, kOrigin.id,             kBackendConfig.id,
                                      kMode.id,       kConstrainLayout.id,    kParameterReplication.id,
                                      kRecordedSharding.id};
  return std::find(std::begin(kIds), std::end(kIds), id) != std::end(kIds);
}

bool IsDefault(const AttrDef& def, const AttrValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag == (def.default_int != 0);
  if (const int64_t* number = std::get_if<int64_t>(&value)) return *number == def.default_int;
  if (const EnumValue* chosen = std::get_if<EnumValue>(&value)) return chosen->index == def.default_int;
  if (const auto* text = std::get_if<std::string_view>(&value)) return text->empty();
  return false;
}

}  // namespace

Status Exporter::CheckAttrs(const MlirOpInfo& row, const Instruction& hlo, std::span<const uint32_t> handled) {
  const std::span<const MlirAttrRule> rules = AttrRulesOf(row);
  for (const NamedAttr& attr : hlo.attrs) {
    if (IsLeftOut(attr.id) || std::find(handled.begin(), handled.end(), attr.id) != handled.end()) continue;
    if (std::any_of(rules.begin(), rules.end(), [&](const MlirAttrRule& rule) { return rule.to->id == attr.id; })) continue;
    const AttrDef* def = FindAttr(hlo.opcode, attr.id);
    if (def != nullptr && IsDefault(*def, attr.value)) continue;
    if (const Instructions* list = std::get_if<Instructions>(&attr.value); list != nullptr && list->empty()) continue;
    return Refused(hlo, def == nullptr ? std::string("an unknown attribute has no StableHLO form")
                                       : StrCat("the attribute ", def->name, " has no StableHLO form"));
  }
  return {};
}

Status Exporter::ExportPlain(const MlirOpInfo& row, const Instruction& hlo, std::span<MlirValue* const> operands,
                             Attrs attrs, std::span<const uint32_t> handled) {
  SHOAL_TRY(CheckAttrs(row, hlo, handled));
  if (row.syntax == "o , o D T")
    for (const MlirValue* operand : operands)
      if (operand->type->element != hlo.shape().element_type())
        return Refused(hlo, StrCat("StableHLO's op does not mix element types, got ", ToString(hlo.shape()), " of ",
                                   Text(operand->type->element)));
  SHOAL_TRY(AddRuleAttrs(row, hlo, attrs));
  std::vector<MlirRegion> regions;
  for (const MlirAttrRule& rule : AttrRulesOf(row)) {
    if (rule.region < 0) continue;
    const AttrValue* called = hlo.Find(rule.to->id);
    Computation* const* computation = called == nullptr ? nullptr : std::get_if<Computation*>(called);
    if (computation == nullptr) return Refused(hlo, StrCat("the attribute ", rule.to->name, " is missing"));
    SHOAL_ASSIGN(region, RegionOf(**computation));
    regions.push_back(region);
  }
  SHOAL_ASSIGN(types, ResultTypes(hlo.shape()));
  SetResults(hlo, *Add(row, hlo, operands, std::move(attrs), types, std::move(regions)));
  return {};
}

Status ExportPlain(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  return exporter.ExportPlain(row, hlo, operands, {});
}

// A tuple is its parts; no op is needed until it is used as one value.
Status ExportTuple(Exporter& exporter, const MlirOpInfo&, const Instruction& hlo) {
  Exporter::Value value;
  for (const Instruction* operand : hlo.operands) value.parts.push_back(exporter.ValueOf(*operand));
  exporter.ValueOf(hlo) = std::move(value);
  return {};
}

Status ExportTupleElement(Exporter& exporter, const MlirOpInfo&, const Instruction& hlo) {
  const int64_t index = ElementIndexOf(hlo);
  if (index < 0) return exporter.Refused(hlo, "the index must not be negative");
  SHOAL_ASSIGN(part, exporter.Part(exporter.ValueOf(*hlo.operands[0]), static_cast<size_t>(index), hlo));
  exporter.ValueOf(hlo) = part;
  return {};
}

namespace {

Result<Exporter::Value> ConstantValue(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo,
                                      const Literal& literal) {
  Exporter::Value value;
  if (literal.shape->IsTuple()) {
    for (const Literal* element : literal.elements) {
      SHOAL_ASSIGN(part, ConstantValue(exporter, row, hlo, *element));
      value.parts.push_back(part);
    }
    return value;
  }
  SHOAL_ASSIGN(dense, exporter.DenseAttr(literal, hlo));
  MlirOp* op = exporter.Add(row, hlo, {}, {{"value", dense}}, {dense->type});
  op->results[0].lowered = const_cast<Instruction*>(&hlo);
  value.single = &op->results[0];
  return value;
}

}  // namespace

Status ExportConstant(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  const Literal* literal = hlo[kConstantValue];
  if (literal == nullptr) return exporter.Refused(hlo, "the constant has no value");
  SHOAL_ASSIGN(value, ConstantValue(exporter, row, hlo, *literal));
  exporter.ValueOf(hlo) = value;
  return {};
}

}  // namespace shoal::internal
