// Changes of types, values and attributes.
#include <map>

#include "analyze/diff/changes.h"
#include "core/base/json_reader.h"
#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {
namespace {

constexpr size_t kMaxTextLength = 60;

std::string Shortened(std::string text) {
  if (text.size() <= kMaxTextLength) return text;
  size_t end = kMaxTextLength;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // do not split a UTF-8 sequence
  return text.substr(0, end) + "…";
}

ChangeKind KindOfAttr(const std::string& name) {
  if (name == kReplicaGroups.name || name == kSourceTargetPairs.name) return ChangeKind::kGroups;
  return name == kSharding.name ? ChangeKind::kSharding : ChangeKind::kAttribute;
}

// Returns the fields of a JSON configuration by path. Other text is returned as a single field with an empty path.
std::map<std::string, std::string> FieldsOf(const std::string& text) {
  std::map<std::string, std::string> fields;
  if (IsTooDeepJson(text)) return {{"", text}};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return {{"", text}};
  const nlohmann::json flat = json.flatten();
  for (const auto& [path, value] : flat.items())
    fields[path] = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fields;
}

// CompareTrips compares trip counts separately.
bool IsTripCount(const std::string& field) { return field.find("known_trip_count") != std::string::npos; }

class AttrComparison {
 public:
  AttrComparison(const Instruction& a, const Instruction& b, std::vector<Change>& changes)
      : a_(a), b_(b), changes_(changes) {}

  void Add(ChangeKind kind, const std::string& name, std::string before, std::string after) {
    changes_.push_back({kind, &a_, &b_, name, Shortened(std::move(before)), Shortened(std::move(after))});
  }

  void AddFields(const std::string& name, const std::string& before, const std::string& after) {
    std::map<std::string, std::string> old_fields = FieldsOf(before);
    for (const auto& [field, value] : FieldsOf(after)) {
      const std::string old = old_fields[field];
      old_fields.erase(field);
      if (old != value && !IsTripCount(field)) Add(ChangeKind::kAttribute, name + field, old, value);
    }
    for (const auto& [field, value] : old_fields)
      if (!value.empty() && !IsTripCount(field)) Add(ChangeKind::kAttribute, name + field, value, "");
  }

 private:
  const Instruction& a_;
  const Instruction& b_;
  std::vector<Change>& changes_;
};

std::string ValueText(const Instruction& constant) {
  const Literal* value = constant[kConstantValue];
  std::string text;
  if (value == nullptr || value->elided || IsLargeConstant(constant)) return "{...}";
  AppendLiteral(text, *value, /*with_shape=*/false);
  return text;
}

// False for forwarded values and for tuples. Their types follow from other values, whose changes are also reported.
bool HasOwnType(const DiffSide& side, const Instruction& hlo) {
  if (!hlo.shape().IsTuple()) return !side.flow.ForwardingOf(side.ids(hlo));
  const OpClass op_class = Info(hlo.opcode).op_class;
  const bool entry_parameter = IsParameter(hlo) && hlo.parent == side.module.entry;
  return entry_parameter ||
         (op_class != OpClass::kStructure && op_class != OpClass::kControlFlow &&
          !side.flow.ForwardingOf(side.ids(hlo)));
}

}  // namespace

void AddAttrChanges(const DiffSide& a, const DiffSide& b, const Instruction& in_a, const Instruction& in_b,
                    std::vector<Change>& changes) {
  const uint32_t id_a = a.ids(in_a), id_b = b.ids(in_b);
  if (a.fingerprints.OpHash(id_a) == b.fingerprints.OpHash(id_b)) return;
  AttrComparison compare(in_a, in_b, changes);
  if (HasOwnType(a, in_a) && HasOwnType(b, in_b)) {
    std::string before = TypeText(in_a.shape()), after = TypeText(in_b.shape());
    const bool layout = ToString(in_a.shape()) == ToString(in_b.shape());
    if (before != after && !layout) before = ToString(in_a.shape()), after = ToString(in_b.shape());
    if (before != after) compare.Add(layout ? ChangeKind::kLayout : ChangeKind::kType, "", before, after);
  }
  if (in_a.opcode != in_b.opcode) return;
  if (IsConstant(in_a) && ToString(in_a.shape()) == ToString(in_b.shape()) &&
      ValueText(in_a) != ValueText(in_b))
    compare.Add(ChangeKind::kValue, "", ValueText(in_a), ValueText(in_b));
  if (IsConstant(in_a) && IsLargeConstant(in_a) && changes.empty())
    compare.Add(ChangeKind::kValue, "", ValueText(in_a), "different values");
  if (IsParameter(in_a) && in_a.parent == a.module.entry &&
      in_a[kParameterNumber] != in_b[kParameterNumber])
    compare.Add(ChangeKind::kAttribute, "parameter number", StrCat(in_a[kParameterNumber]),
                StrCat(in_b[kParameterNumber]));
  std::map<std::string, AttrMeaning> old_attrs;
  for (AttrMeaning& attr : a.fingerprints.AttrsOf(in_a)) old_attrs[attr.name] = std::move(attr);
  for (const AttrMeaning& attr : b.fingerprints.AttrsOf(in_b)) {
    const AttrMeaning old = old_attrs[attr.name];
    old_attrs.erase(attr.name);
    if (old.hash == attr.hash || attr.name == kElementIndex.name) continue;
    if (attr.name == kBackendConfig.name && !old.text.empty()) {
      compare.AddFields(attr.name, old.text, attr.text);
    } else {
      compare.Add(KindOfAttr(attr.name), attr.name, old.text, attr.text);
    }
  }
  for (const auto& [name, attr] : old_attrs)
    if (!attr.text.empty()) compare.Add(KindOfAttr(name), name, attr.text, "");
}

void AddHeaderChanges(const Module& a, const Module& b, std::vector<Change>& changes) {
  auto compare = [&](const char* name, const std::string& before, const std::string& after) {
    if (before != after)
      changes.push_back({ChangeKind::kHeader, nullptr, nullptr, name, Shortened(before), Shortened(after)});
  };
  auto aliases = [](const Module& module) {
    return StrJoin(module.input_output_alias, ", ", [](std::string* out, const InputOutputAlias& alias) {
      StrAppend(out, ToString(alias.output_index), ": (", alias.parameter, ", ", ToString(alias.parameter_index), ")");
    });
  };
  auto donors = [](const Module& module) {
    return StrJoin(module.buffer_donors, ", ", [](std::string* out, const BufferDonor& donor) {
      StrAppend(out, "(", donor.parameter, ", ", ToString(donor.parameter_index), ")");
    });
  };
  compare("replica_count", StrCat(a.replica_count), StrCat(b.replica_count));
  compare("num_partitions", StrCat(a.num_partitions), StrCat(b.num_partitions));
  compare("input_output_alias", aliases(a), aliases(b));
  compare("buffer_donor", donors(a), donors(b));
}

}  // namespace shoal::internal
