// Attributes: one function makes the MLIR attribute of an HLO attribute of a given kind.
#include <algorithm>
#include <cctype>

#include "core/ir/sizes.h"
#include "core/ops/elementwise.h"
#include "formats/stablehlo/exporter.h"
#include "formats/stablehlo/mlir_text.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;

// rng_uniform is UNIFORM, high is HIGH.
std::string EnumText(std::string_view name) {
  if (name.starts_with("rng_")) name.remove_prefix(4);
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace

const MlirAttr* Exporter::TextAttr(Kind kind, std::string_view text) {
  MlirAttr* attr = NewAttr(kind);
  attr->text = arena().CopyString(text);
  return attr;
}

const MlirAttr* Exporter::IntAttr(int64_t value, ElementType type) {
  MlirAttr* attr = NewAttr(Kind::kInt);
  attr->number = value;
  attr->type = ScalarType(type);
  return attr;
}

const MlirAttr* Exporter::IntsAttr(Ints ints, ElementType type) {
  MlirAttr* attr = NewAttr(Kind::kInts);
  attr->ints = arena().Copy(ints);
  attr->type = ScalarType(type);
  return attr;
}

const MlirAttr* Exporter::ListAttr(Ints ints) {
  MlirAttr* attr = NewAttr(Kind::kInts);
  attr->ints = arena().Copy(ints);
  return attr;
}

const MlirAttr* Exporter::BoolAttr(bool value) {
  MlirAttr* attr = NewAttr(Kind::kBool);
  attr->number = value ? 1 : 0;
  return attr;
}

const MlirAttr* Exporter::BoolsAttr(const std::vector<bool>& values) {
  std::string text = values.empty() ? "array<i1" : "array<i1: ";
  for (size_t i = 0; i < values.size(); ++i) StrAppend(&text, i == 0 ? "" : ", ", values[i] ? "true" : "false");
  return TextAttr(Kind::kOpaque, text + ">");
}

const MlirAttr* Exporter::DictionaryAttr(std::string_view name, const Attrs& fields) {
  MlirAttr* attr = NewAttr(Kind::kDictionary);
  attr->text = name;
  attr->fields = arena().Copy(fields);
  return attr;
}

const MlirAttr* Exporter::MatrixAttr(const std::vector<std::vector<int64_t>>& rows) {
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  std::string text = "dense<";
  for (const auto& row : rows) {
    StrAppend(&text, &row == rows.data() ? "[[" : ", [");
    for (size_t i = 0; i < width; ++i)  // -1 fills up short rows
      StrAppend(&text, i == 0 ? "" : ", ", i < row.size() ? row[i] : int64_t{-1});
    text += ']';
  }
  StrAppend(&text, rows.empty() ? "" : "]", "> : tensor<", rows.size(), "x", width, "xi64>");
  return TextAttr(Kind::kOpaque, text);
}

Result<const MlirAttr*> Exporter::DenseAttr(const Literal& literal, const Instruction& hlo) {
  SHOAL_ASSIGN(type, TypeOf(*literal.shape));
  if (!literal.shape->IsArray() || literal.shape->has_dynamic())
    return Refused(hlo, "a constant needs a static array");
  MlirAttr* attr = NewAttr(Kind::kDense);
  attr->type = type;
  attr->elided = literal.elided;
  if (literal.elided) return attr;
  const auto bytes = static_cast<size_t>(StorageBytes(literal.shape->element_type()));
  const auto size = static_cast<size_t>(SaturatingMul(ElementCountOf(*literal.shape), static_cast<int64_t>(bytes)));
  attr->data = literal.data;
  constexpr size_t kLargest = size_t{1} << 32;
  const bool is_short = literal.data.size() < size;  // the missing elements are zero
  if (is_short && std::count(literal.data.begin(), literal.data.end(), std::byte{}) == std::ssize(literal.data)) {
    const std::span<std::byte> zero = arena().NewSpan<std::byte>(bytes);
    std::fill(zero.begin(), zero.end(), std::byte{});
    attr->data = zero;
    attr->splat = size > bytes;
    return attr;
  }
  if (is_short && size > kLargest) return Refused(hlo, "the constant is larger than 4 GiB");
  if (is_short) {
    const std::span<std::byte> whole = arena().NewSpan<std::byte>(size);
    std::fill(std::copy(literal.data.begin(), literal.data.end(), whole.begin()), whole.end(), std::byte{});
    attr->data = whole;
  }
  const bool equal = size > bytes && std::equal(attr->data.begin() + static_cast<ptrdiff_t>(bytes), attr->data.end(),
                                                attr->data.begin());
  attr->splat = equal;
  if (equal) attr->data = attr->data.first(bytes);
  return attr;
}

namespace {

const MlirAttr* AccuracyAttr(Exporter& exporter, const ResultAccuracy& accuracy) {
  std::string text = "#stablehlo.result_accuracy<";
  if (accuracy.has_tolerance)
    StrAppend(&text, "atol = ", FloatText(accuracy.atol), ", rtol = ", FloatText(accuracy.rtol),
              ", ulps = ", accuracy.ulps, ", ");
  const std::string mode = accuracy.has_tolerance ? "TOLERANCE" : EnumText(kResultAccuracyModes[accuracy.mode]);
  StrAppend(&text, "mode = #stablehlo.result_accuracy_mode<", mode, ">>");
  return exporter.TextAttr(Kind::kOpaque, text);
}

// A value of an attribute of `def`, as an MLIR attribute of the row's type; null if there is no such form.
const MlirAttr* AttrOf(Exporter& exporter, std::string_view dialect, const AttrDef& def, std::string_view type,
                       const AttrValue& value) {
  if (const bool* flag = std::get_if<bool>(&value))
    return type == "unit" ? exporter.NewAttr(Kind::kUnit) : exporter.BoolAttr(*flag);
  if (const int64_t* number = std::get_if<int64_t>(&value))
    return exporter.IntAttr(*number, type == "i32" ? ElementType::kS32 : ElementType::kS64);
  if (const double* number = std::get_if<double>(&value)) {
    MlirAttr* attr = exporter.NewAttr(Kind::kFloat);
    attr->real = *number;
    attr->type = exporter.ScalarType(ElementType::kF32);
    return attr;
  }
  if (const auto* text = std::get_if<std::string_view>(&value)) return exporter.TextAttr(Kind::kString, *text);
  if (const Ints* ints = std::get_if<Ints>(&value)) {
    if (type != "i64") return exporter.IntsAttr(*ints);
    return ints->size() == 1 ? exporter.IntAttr((*ints)[0], ElementType::kS64) : nullptr;
  }
  if (const auto* lists = std::get_if<IntLists>(&value)) {
    std::vector<std::vector<int64_t>> rows;
    for (const Ints list : *lists) rows.emplace_back(list.begin(), list.end());
    return exporter.MatrixAttr(rows);
  }
  auto keyword = [&](EnumValue chosen) {
    return exporter.TextAttr(Kind::kOpaque, StrCat("#", dialect, "<", type, " ", EnumText(def.enum_names[chosen.index]), ">"));
  };
  if (const auto* chosen = std::get_if<EnumValue>(&value)) return keyword(*chosen);
  if (const auto* list = std::get_if<EnumList>(&value)) {
    std::vector<const MlirAttr*> elements;
    for (const EnumValue chosen : *list) elements.push_back(keyword(chosen));
    MlirAttr* attr = exporter.NewAttr(Kind::kArray);
    attr->elements = exporter.arena().Copy(elements);
    return attr;
  }
  if (const auto* accuracy = std::get_if<const ResultAccuracy*>(&value)) return AccuracyAttr(exporter, **accuracy);
  return nullptr;
}

}  // namespace

Status Exporter::AddRuleAttrs(const MlirOpInfo& row, const Instruction& hlo, Attrs& attrs) {
  for (const MlirAttrRule& rule : AttrRulesOf(row)) {
    if (rule.region >= 0) continue;
    const AttrValue* value = hlo.Find(rule.to->id);
    AttrValue absent;  // HLO omits attributes with their default, which StableHLO may require
    if (value == nullptr) {
      if (rule.to->kind == AttrKind::kBool && rule.type != "unit") absent = rule.to->default_int != 0;
      else if (rule.to->kind == AttrKind::kEnum) absent = EnumValue{static_cast<uint8_t>(rule.to->default_int)};
      else if (rule.to->kind == AttrKind::kInts && rule.type.empty()) absent = Ints();
      else continue;
      value = &absent;
    }
    if (const bool* flag = std::get_if<bool>(value); flag != nullptr && !*flag && rule.type == "unit") continue;
    const MlirAttr* attr = AttrOf(*this, row.name.substr(0, row.name.find('.')), *rule.to, rule.type, *value);
    if (attr == nullptr) return Refused(hlo, StrCat("the attribute ", rule.to->name, " has no StableHLO form"));
    attrs.push_back({rule.from, attr});
  }
  return {};
}

void Exporter::AddSharding(const Sharding* sharding, Attrs& attrs) {
  if (sharding == nullptr) return;
  std::string text;
  AppendSharding(text, *sharding);
  attrs.push_back({"mhlo.sharding", TextAttr(Kind::kString, text)});
}

void Exporter::AddCommonAttrs(const Instruction& hlo, Attrs& attrs, std::span<const std::string_view> without) {
  Attrs fields;
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (std::find(without.begin(), without.end(), attribute.name) == without.end())
      fields.push_back({attribute.name, TextAttr(Kind::kString, attribute.value)});
  if (!fields.empty()) attrs.push_back({"mhlo.frontend_attributes", DictionaryAttr({}, fields)});
  AddSharding(hlo[kSharding], attrs);
}

}  // namespace shoal::internal
