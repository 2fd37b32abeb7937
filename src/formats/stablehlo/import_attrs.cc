// Attributes: one function converts an MLIR attribute to an HLO attribute of a given kind.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "core/ops/collective.h"
#include "formats/stablehlo/importer.h"
#include "formats/text/fragments.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// The number of an enum value in `names`, which may have a prefix: UNIFORM is rng_uniform.
std::optional<uint8_t> EnumIndex(std::string_view text, std::span<const std::string_view> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    std::string_view name = names[i];
    if (SameIgnoringCase(name, text)) return static_cast<uint8_t>(i);
    if (name.starts_with("rng_") && SameIgnoringCase(name.substr(4), text)) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

// Integers of a dense attribute.
bool DenseInts(const MlirAttr& dense, std::vector<int64_t>& values) {
  if (dense.type == nullptr || dense.elided || dense.type->kind != MlirType::Kind::kTensor) return false;
  const ElementType type = dense.type->element;
  if (!IsInteger(type) && type != ElementType::kPred) return false;
  const auto bytes = static_cast<size_t>(StorageBytes(type));
  const size_t stored = dense.data.size() / bytes;
  size_t count = stored;
  if (dense.splat) {
    count = 1;
    for (const int64_t dim : dense.type->dims) {
      if (dim < 0 || dim > (1 << 24) || count > (1 << 24)) return false;
      count *= static_cast<size_t>(dim);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, dense.data.data() + (dense.splat ? 0 : i * bytes), bytes);
    const int shift = 64 - static_cast<int>(bytes) * 8;
    values.push_back(IsSigned(type) ? static_cast<int64_t>(bits << shift) >> shift : static_cast<int64_t>(bits));
  }
  return true;
}

}  // namespace

Result<Ints> Importer::IntsOf(const MlirOp& op, const MlirAttr* attr) {
  if (attr == nullptr || (attr->kind == Kind::kArray && attr->elements.empty())) return Ints();
  if (!attr->imported_ints.empty()) return attr->imported_ints;
  if (attr->kind == Kind::kInts) return attr->imported_ints = Ints(module_.arena.Copy(attr->ints));
  if (attr->kind == Kind::kInt || attr->kind == Kind::kBool) {
    const int64_t one[] = {attr->number};
    return attr->imported_ints = Ints(module_.arena.Copy(one));
  }
  std::vector<int64_t> values;
  bool good = attr->kind == Kind::kDense && DenseInts(*attr, values);
  if (attr->kind == Kind::kArray) {
    good = true;
    for (const MlirAttr* element : attr->elements) {
      good &= element->kind == Kind::kInt || element->kind == Kind::kBool;
      values.push_back(element->number);
    }
  }
  if (!good) return Refused(op, "expected a list of integers");
  return attr->imported_ints = Ints(module_.arena.Copy(values));
}

Result<int64_t> Importer::IntOf(const MlirOp& op, std::string_view name, int64_t fallback) {
  const MlirAttr* attr = op.Find(name);
  if (attr == nullptr) return fallback;
  if (attr->kind == Kind::kInt || attr->kind == Kind::kBool) return attr->number;
  SHOAL_ASSIGN(ints, IntsOf(op, attr));
  if (ints.size() != 1) return Refused(op, StrCat("expected an integer for ", name));
  return ints[0];
}

Result<IntLists> Importer::IntListsOf(const MlirOp& op, const MlirAttr& attr) {
  std::vector<Ints> lists;
  if (attr.kind == Kind::kDense && attr.type != nullptr && attr.type->dims.size() == 2) {
    SHOAL_ASSIGN(all, IntsOf(op, &attr));
    const auto width = static_cast<size_t>(std::max<int64_t>(attr.type->dims[1], 0));
    for (size_t i = 0; width != 0 && i + width <= all.size(); i += width) lists.push_back(all.subspan(i, width));
  } else if (attr.kind == Kind::kArray) {
    for (const MlirAttr* element : attr.elements) {
      SHOAL_ASSIGN(list, IntsOf(op, element));
      lists.push_back(list);
    }
  } else {
    return Refused(op, "expected a matrix of integers");
  }
  return IntLists(module_.arena.Copy(lists));
}

std::string_view Importer::StringAttr(const MlirOp& op, std::string_view name) {
  const MlirAttr* attr = op.Find(name);
  if (attr == nullptr) return {};
  const bool is_text = attr->kind == Kind::kString || attr->kind == Kind::kSymbol || attr->kind == Kind::kKeyword ||
                       attr->kind == Kind::kOpaque;
  return is_text ? attr->text : std::string_view();
}

bool Importer::BoolAttr(const MlirOp& op, std::string_view name, bool fallback) {
  const MlirAttr* attr = op.Find(name);
  if (attr == nullptr) return fallback;
  return attr->kind == Kind::kUnit || attr->number != 0;
}

Status Importer::ConvertAttr(const MlirOp& op, const AttrDef& def, const MlirAttr& from, AttrValue* value) {
  auto wrong = [&](std::string_view expected) {
    return Refused(op, StrCat("the attribute for ", def.name, " must be ", expected));
  };
  switch (def.kind) {
    case AttrKind::kBool:
      if (from.kind != Kind::kBool && from.kind != Kind::kUnit && from.kind != Kind::kInt) return wrong("true or false");
      *value = from.kind == Kind::kUnit || from.number != 0;
      return {};
    case AttrKind::kInt:
    case AttrKind::kInt32: {
      SHOAL_ASSIGN(ints, IntsOf(op, &from));
      if (ints.size() != 1) return wrong("an integer");
      *value = ints[0];
      return {};
    }
    case AttrKind::kFloat:
      if (from.kind != Kind::kFloat) return wrong("a number");
      *value = from.real;
      return {};
    case AttrKind::kString:
    case AttrKind::kStringOrJson:
      if (from.kind != Kind::kString) return wrong("a string");
      *value = module_.arena.CopyString(from.text);
      return {};
    case AttrKind::kInts: {
      SHOAL_ASSIGN(ints, IntsOf(op, &from));
      *value = ints;
      return {};
    }
    case AttrKind::kIntLists: {
      SHOAL_ASSIGN(lists, IntListsOf(op, from));
      *value = lists;
      return {};
    }
    case AttrKind::kEnum: {
      if (from.kind != Kind::kKeyword && from.kind != Kind::kString) return wrong("one of its names");
      const std::optional<uint8_t> index = EnumIndex(from.text, def.enum_names);
      if (!index) return wrong(StrCat("one of its names, got ", from.text));
      *value = EnumValue{*index};
      return {};
    }
    case AttrKind::kEnumList: {
      std::vector<EnumValue> values;
      for (const MlirAttr* element : from.elements) {
        const std::optional<uint8_t> index = EnumIndex(element->text, def.enum_names);
        if (!index) return wrong(StrCat("a list of its names, got ", element->text));
        values.push_back({*index});
      }
      *value = EnumList(module_.arena.Copy(values));
      return {};
    }
    case AttrKind::kResultAccuracy: {
      ResultAccuracy accuracy;
      for (const MlirNamedAttr& field : from.fields) {
        if (field.name == "atol") accuracy.atol = field.value->real;
        if (field.name == "rtol") accuracy.rtol = field.value->real;
        if (field.name == "ulps") accuracy.ulps = field.value->number;
        if (field.name == "mode") {
          accuracy.has_tolerance = SameIgnoringCase(field.value->text, "TOLERANCE");
          accuracy.mode = SameIgnoringCase(field.value->text, "HIGHEST") ? 1 : 0;
        }
      }
      *value = static_cast<const ResultAccuracy*>(module_.arena.New<ResultAccuracy>(accuracy));
      return {};
    }
    default:
      return wrong("of another kind");
  }
}

namespace {

// An attribute with its default value, which HLO text omits.
bool IsOmitted(const AttrDef& def, const AttrValue& value) {
  if (def.required || def.shown == Shown::kAlways) return false;
  if (const bool* flag = std::get_if<bool>(&value)) return *flag == (def.default_int != 0);
  if (def.shown != Shown::kIfNotDefault) return false;
  if (const int64_t* number = std::get_if<int64_t>(&value)) return *number == def.default_int;
  if (const EnumValue* chosen = std::get_if<EnumValue>(&value)) return chosen->index == def.default_int;
  if (const Ints* ints = std::get_if<Ints>(&value)) return ints->empty();
  if (const std::string_view* text = std::get_if<std::string_view>(&value)) return text->empty();
  if (const EnumList* list = std::get_if<EnumList>(&value))
    return std::all_of(list->begin(), list->end(), [](EnumValue v) { return v.index == 0; });
  if (const auto* accuracy = std::get_if<const ResultAccuracy*>(&value))
    return !(*accuracy)->has_tolerance && (*accuracy)->mode == 0;
  return false;
}

}  // namespace

// In bytecode, equal attributes are one object.
Status Importer::ConvertSharedAttr(const MlirOp& op, const AttrDef& def, const MlirAttr& from, AttrValue* value) {
  if (!tree_.is_bytecode) return ConvertAttr(op, def, from, value);
  const auto [entry, is_new] = converted_.try_emplace({&from, &def}, AttrValue(false));
  if (!is_new) {
    *value = entry->second;
    return {};
  }
  Status converted = ConvertAttr(op, def, from, value);
  if (converted.ok()) entry->second = *value;
  return converted;
}

Status Importer::ConvertAttrs(const MlirOp& op, NamedAttrs& attrs) {
  for (const MlirAttrRule& rule : AttrRulesOf(*op.info)) {
    const AttrDef& def = *rule.to;
    NamedAttr attr{def.id, false};
    if (rule.region >= 0) {
      const auto number = static_cast<size_t>(rule.region);
      if (number >= op.regions.size()) return Refused(op, StrCat("the op needs ", number + 1, " regions"));
      SHOAL_ASSIGN(computation, ImportRegion(op.regions[number], op.at));
      Reset(op);
      attr.value = computation;
    } else if (const MlirAttr* value = op.Find(rule.from)) {
      SHOAL_TRY(ConvertSharedAttr(op, def, *value, &attr.value));
      if (IsOmitted(def, attr.value)) continue;
    } else if (!def.required) {
      continue;
    } else if (def.kind == AttrKind::kInts) {
      attr.value = Ints();  // attributes with named fields omit empty lists and zeros
    } else if (def.kind == AttrKind::kInt) {
      attr.value = int64_t{0};
    } else {
      return Refused(op, StrCat("the op needs the attribute ", rule.from));
    }
    attrs.push_back(attr);
  }
  return {};
}

std::span<const FrontendAttribute> Importer::FrontendAttributesOf(std::span<const MlirNamedAttr> fields) {
  std::vector<FrontendAttribute> attributes;
  for (const MlirNamedAttr& field : fields) {
    std::string_view value = field.value->text;
    if (field.value->kind == Kind::kBool) value = field.value->number != 0 ? "true" : "false";
    if (field.value->kind != Kind::kBool && field.value->kind != Kind::kString) continue;
    if (field.name == "xla_metadata_payload") continue;
    // HLO has no quoted names: characters that its names cannot have become '_'.
    std::string name = field.name.empty() ? "_" : std::string(field.name);
    for (char& c : name) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                         c == '.' || c == '-';
      if (!plain) c = '_';
    }
    if ((name[0] >= '0' && name[0] <= '9') || name[0] == '-' || name[0] == '.') name.insert(0, "_");
    attributes.push_back({module_.arena.CopyString(name), module_.arena.CopyString(value)});
  }
  std::sort(attributes.begin(), attributes.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return module_.arena.Copy(attributes);
}

void Importer::AddFrontendAttribute(std::string_view name, std::string value) {
  frontend_attributes_.push_back({module_.arena.CopyString(name), module_.arena.CopyString(value)});
  std::sort(frontend_attributes_.begin(), frontend_attributes_.end(),
            [](const FrontendAttribute& a, const FrontendAttribute& b) { return a.name < b.name; });
  const std::span<const FrontendAttribute> list = module_.arena.Copy(frontend_attributes_);
  for (NamedAttr& attr : common_)
    if (attr.id == kFrontendAttributes.id) {
      attr.value = list;
      return;
    }
  common_.push_back({kFrontendAttributes.id, list});
}

Status Importer::ReadCommonAttrs(const MlirOp& op) {
  common_.clear();
  frontend_attributes_.clear();
  for (const MlirNamedAttr& attr : op.attrs) {
    const char first = attr.name.empty() ? '\0' : attr.name[0];
    if (first == 'm' && attr.name == "mhlo.sharding") {
      SHOAL_ASSIGN(sharding, ParseSharding(module_.arena.CopyString(attr.value->text), module_));
      common_.push_back({kSharding.id, sharding});
    } else if (first == 'm' && attr.name == "mhlo.frontend_attributes" && attr.value->kind == Kind::kDictionary) {
      const auto list = FrontendAttributesOf(attr.value->fields);
      frontend_attributes_.assign(list.begin(), list.end());
      if (!list.empty()) common_.push_back({kFrontendAttributes.id, list});
    } else if (first == 's' && attr.name == "sdy.sharding" && attr.value->kind == Kind::kOpaque) {
      AddFrontendAttribute("xla.sdy.sharding", std::string(attr.value->text));
    } else if (first == 's' && attr.name == "sdy.sharding_rule" && attr.value->kind == Kind::kOpaque) {
      AddFrontendAttribute("xla.sdy.sharding_rule", std::string(attr.value->text));
    }
  }
  return {};
}

}  // namespace shoal::internal
