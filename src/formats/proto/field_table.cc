#include "formats/proto/field_table.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/strings.h"
#include "formats/proto/wire.h"
#include "hlo.pb.h"

namespace shoal::internal {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr FieldRow kRows[] = {
#define FIELD(message, number, name, first, last, use, reason) \
  {message, number, name, first, last, FieldUse::k##use, reason},
#include "formats/proto/proto_fields.def"
#undef FIELD
};

// A field by its number.
struct Known {
  bool is_declared = false;  // in hlo.proto
  uint8_t wire_types = 0;    // a bit for each type that the declared field may have
  const Descriptor* message = nullptr;
  const FieldRow* other = nullptr;  // the row of a field that is not declared, or was declared with another type
};
using Fields = std::vector<Known>;  // indexed by number

uint8_t WireTypes(const FieldDescriptor& field) {
  const uint8_t bytes = 1 << Wire::kBytes;
  uint8_t scalar = 1 << Wire::kVarint;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return bytes;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      scalar = 1 << Wire::kFixed64;
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      scalar = 1 << Wire::kFixed32;
      break;
    default:
      break;
  }
  return field.is_repeated() ? scalar | bytes : scalar;
}

// The name of a message in kRows: without the package.
std::string_view NameOf(const Descriptor& type) {
  std::string_view name = type.full_name();
  name.remove_prefix(type.file()->package().size() + 1);
  return name;
}

Fields FieldsOf(const Descriptor& type) {
  constexpr int kMaxNumber = 255;  // of XLA's fields; shoal's own have large numbers
  Fields fields(kMaxNumber + 1);
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.number() > kMaxNumber) continue;
    fields[static_cast<size_t>(field.number())] = {true, WireTypes(field), field.message_type(), nullptr};
  }
  const std::string_view name = NameOf(type);
  for (const FieldRow& row : kRows)
    if (row.message == name && row.use != FieldUse::kRead) fields[static_cast<size_t>(row.number)].other = &row;
  return fields;
}

// True if all values of the field, which has varints or a packed list of them, are at most `bound`.
bool IsAtMost(const Wire& wire, char bound) {
  if (!wire.is_bytes()) return wire.varint <= static_cast<uint64_t>(bound);
  return std::all_of(wire.payload.begin(), wire.payload.end(), [=](char c) { return c >= 0 && c <= bound; });
}

class Checker {
 public:
  explicit Checker(bool strict) : strict_(strict) {}

  void Check(std::string_view bytes, const Descriptor& type, int depth);
  void Report(Diags& diags) const;

 private:
  struct Finding {
    std::string where;
    const FieldRow* row = nullptr;  // null: no row describes the field
    int count = 0;
  };
  using Key = std::pair<std::string_view, uint64_t>;  // message and number

  const Fields& FieldsOfType(const Descriptor& type) {
    std::unique_ptr<const Fields>& fields = fields_[&type];
    if (fields == nullptr) fields = std::make_unique<const Fields>(FieldsOf(type));
    return *fields;
  }
  void CheckOther(const Wire& wire, const Descriptor& type, const FieldRow* row);
  std::string Where() const;

  const bool strict_;
  absl::flat_hash_map<const Descriptor*, std::unique_ptr<const Fields>> fields_;
  std::string_view computation_, instruction_;  // the messages around the current one
  std::map<Key, Finding> findings_;
};

std::string Checker::Where() const {
  const std::string_view computation = FirstPayload(computation_, proto::HloComputationProto::kNameFieldNumber);
  const std::string_view instruction = FirstPayload(instruction_, proto::HloInstructionProto::kNameFieldNumber);
  std::string where;
  if (!computation.empty()) StrAppend(&where, "computation ", computation);
  if (!instruction.empty()) StrAppend(&where, where.empty() ? "" : ", ", "instruction ", instruction);
  if (!where.empty()) where += ": ";
  return where;
}

void Checker::CheckOther(const Wire& wire, const Descriptor& type, const FieldRow* row) {
  // A value that is not set, in files of proto2.
  if (wire.is_bytes() ? wire.payload.empty() : wire.type == Wire::kVarint && wire.varint == 0) return;
  if (row != nullptr) {
    if (row->use == FieldUse::kIgnored || row->use == FieldUse::kUpgraded) return;
    if (row->use == FieldUse::kIgnoredUpTo0 && IsAtMost(wire, 0)) return;
    if (row->use == FieldUse::kIgnoredUpTo1 && IsAtMost(wire, 1)) return;
  }
  Finding& finding = findings_[{NameOf(type), wire.number}];
  if (finding.count++ > 0) return;
  finding.where = Where();
  finding.row = row;
}

void Checker::Check(std::string_view bytes, const Descriptor& type, int depth) {
  constexpr int kMaxDepth = 100;  // protobuf refuses deeper messages
  if (depth > kMaxDepth) return;
  std::string_view* around = &type == proto::HloComputationProto::descriptor()   ? &computation_
                             : &type == proto::HloInstructionProto::descriptor() ? &instruction_
                                                                                 : nullptr;
  const std::string_view outer = around == nullptr ? "" : std::exchange(*around, bytes);
  const Fields& fields = FieldsOfType(type);
  for (Wire wire(bytes); wire.Next();) {
    static constexpr Known kUnknown;
    const bool is_own =
        wire.number >= fields.size() && type.FindFieldByNumber(static_cast<int>(wire.number)) != nullptr;
    if (is_own) continue;
    const Known& known = wire.number < fields.size() ? fields[wire.number] : kUnknown;
    if (!known.is_declared || (known.wire_types >> wire.type & 1) == 0) {
      CheckOther(wire, type, known.other);
    } else if (known.message != nullptr) {
      Check(wire.payload, *known.message, depth + 1);
    }
  }
  if (around != nullptr) *around = outer;
}

void Checker::Report(Diags& diags) const {
  for (const auto& [key, finding] : findings_) {
    const bool refused = finding.row != nullptr && finding.row->use != FieldUse::kReported;
    std::string message = finding.where;
    if (finding.row == nullptr) {
      StrAppend(&message, "field ", key.second, " of ", key.first,
                " is unknown; a newer version of XLA may have written it, and it may change the meaning");
    } else {
      StrAppend(&message, key.first, ".", finding.row->name, " (", finding.row->reason, ") is ",
                refused ? "not supported" : "ignored");
    }
    if (finding.count > 1) StrAppend(&message, "; ", finding.count, " messages set it");
    const Severity severity = refused || strict_ ? Severity::kError : Severity::kWarning;
    diags.Add({refused ? "proto.C1" : "loose.field", std::move(message), {}, severity, Site::Here()});
  }
}

}  // namespace

std::span<const FieldRow> FieldRows() { return kRows; }

void CheckFields(std::string_view bytes, const Descriptor& type, bool strict, Diags& diags) {
  Checker checker(strict);
  checker.Check(bytes, type, 0);
  checker.Report(diags);
}

}  // namespace shoal::internal
