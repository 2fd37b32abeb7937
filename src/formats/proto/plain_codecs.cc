// Attributes stored as one number, string or list in a field. The field is accessed by protobuf reflection, so that an
// attribute needs at most a row in kFieldLocations.
#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>

#include <algorithm>

#include "core/base/strings.h"
#include "formats/proto/attr_fields.h"

namespace shoal::internal {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Returns the message that contains the field at the end of the path, for reading.
const Message& Holder(const AttrField& field, const AttrSource& source) {
  const Message* message = &source.from;
  for (size_t i = 0; i + 1 < field.path.size(); ++i)
    message = &message->GetReflection()->GetMessage(*message, field.path[i]);
  return *message;
}

// Returns the same message for writing; creates the messages on the path.
Message& Holder(const AttrField& field, AttrTarget& target) {
  Message* message = &target.to;
  for (size_t i = 0; i + 1 < field.path.size(); ++i)
    message = message->GetReflection()->MutableMessage(message, field.path[i]);
  return *message;
}

template <class T>
google::protobuf::RepeatedFieldRef<T> List(const AttrField& field, const AttrSource& source) {
  const Message& holder = Holder(field, source);
  return holder.GetReflection()->GetRepeatedFieldRef<T>(holder, field.path.back());
}
template <class T>
google::protobuf::MutableRepeatedFieldRef<T> MutableList(const AttrField& field, AttrTarget& target) {
  Message& holder = Holder(field, target);
  return holder.GetReflection()->GetMutableRepeatedFieldRef<T>(&holder, field.path.back());
}

int64_t GetNumber(const AttrField& field, const AttrSource& source) {
  const Message& holder = Holder(field, source);
  const FieldDescriptor* last = field.path.back();
  const bool wide = last->cpp_type() == FieldDescriptor::CPPTYPE_INT64;
  return wide ? holder.GetReflection()->GetInt64(holder, last) : holder.GetReflection()->GetInt32(holder, last);
}

void SetNumber(const AttrField& field, AttrTarget& target, int64_t value) {
  Message& holder = Holder(field, target);
  const FieldDescriptor* last = field.path.back();
  if (last->is_repeated()) {
    holder.GetReflection()->AddInt64(&holder, last, value);
  } else if (last->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    holder.GetReflection()->SetInt64(&holder, last, value);
  } else {
    holder.GetReflection()->SetInt32(&holder, last,
                                     static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX)));
  }
}

std::string_view GetText(const AttrField& field, const AttrSource& source) {
  const Message& holder = Holder(field, source);
  static const std::string kNone;
  std::string scratch;  // not used: the field is a plain string
  const std::string& text = holder.GetReflection()->GetStringReference(holder, field.path.back(), &scratch);
  return &text == &scratch ? std::string_view(kNone) : std::string_view(text);
}

void SetText(const AttrField& field, AttrTarget& target, std::string_view text) {
  Message& holder = Holder(field, target);
  holder.GetReflection()->SetString(&holder, field.path.back(), std::string(text));
}

bool IsText(const AttrField& field) { return field.path.back()->cpp_type() == FieldDescriptor::CPPTYPE_STRING; }

Diag UnknownValue(const AttrDef& def, std::string_view value) { return Fail(StrCat("unknown ", def.name, " ", value)); }

// ---- bool; in a number field: 0 not set, 1 true, 2 false

DecodeResult ReadBool(const AttrField& field, const AttrSource& source) {
  const Message& holder = Holder(field, source);
  const FieldDescriptor* last = field.path.back();
  if (last->cpp_type() != FieldDescriptor::CPPTYPE_BOOL) {
    const int64_t number = GetNumber(field, source);
    return DecodedAttr{number == 1, number != 0};
  }
  const bool value = holder.GetReflection()->GetBool(holder, last);
  return DecodedAttr{value, value};
}

void WriteBool(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const bool* attr = Get<bool>(value);
  const bool to_write = attr == nullptr ? field.def->default_int != 0 : *attr;
  const FieldDescriptor* last = field.path.back();
  if (last->cpp_type() != FieldDescriptor::CPPTYPE_BOOL) return SetNumber(field, target, to_write ? 1 : 2);
  Message& holder = Holder(field, target);
  holder.GetReflection()->SetBool(&holder, last, to_write);
}

// ---- integer; in a list field: its first element

DecodeResult ReadInt(const AttrField& field, const AttrSource& source) {
  const FieldDescriptor* last = field.path.back();
  if (last->is_repeated()) {
    auto list = List<int64_t>(field, source);
    if (list.empty()) return DecodedAttr{};
    return DecodedAttr{list.Get(0)};
  }
  const Message& holder = Holder(field, source);
  return DecodedAttr{GetNumber(field, source), holder.GetReflection()->HasField(holder, last)};
}

void WriteInt(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const int64_t* attr = Get<int64_t>(value);
  // Without a value, a list stays empty.
  if (attr == nullptr && field.path.back()->is_repeated()) return;
  const int64_t to_write = attr == nullptr ? field.def->default_int : *attr;
  if (field.path.back()->is_repeated() && to_write == field.def->default_int && !field.def->required) return;
  SetNumber(field, target, to_write);
}

DecodeResult ReadFloat(const AttrField& field, const AttrSource& source) {
  const Message& holder = Holder(field, source);
  return DecodedAttr{static_cast<double>(holder.GetReflection()->GetFloat(holder, field.path.back()))};
}

void WriteFloat(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const double* attr = Get<double>(value);
  if (attr == nullptr) return;
  Message& holder = Holder(field, target);
  holder.GetReflection()->SetFloat(&holder, field.path.back(), static_cast<float>(*attr));
}

DecodeResult ReadString(const AttrField& field, const AttrSource& source) {
  const std::string_view text = GetText(field, source);
  return DecodedAttr{source.module.arena.CopyString(text), !text.empty()};
}

void WriteString(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const std::string_view* attr = Get<std::string_view>(value);
  if (attr != nullptr) SetText(field, target, *attr);
}

// ---- enum: a name in a string field, an index in other fields

DecodeResult ReadEnum(const AttrField& field, const AttrSource& source) {
  const AttrDef& def = *field.def;
  if (IsText(field)) {
    const std::string_view name = GetText(field, source);
    if (name.empty() && !def.required) return DecodedAttr{};
    auto found = std::find(def.enum_names.begin(), def.enum_names.end(), name);
    if (found == def.enum_names.end()) return UnknownValue(def, StrCat("'", name, "'"));
    return DecodedAttr{EnumValue{static_cast<uint8_t>(found - def.enum_names.begin())}};
  }
  const int64_t number = GetNumber(field, source);
  if (number < 0 || number >= std::ssize(def.enum_names)) return UnknownValue(def, StrCat(number));
  return DecodedAttr{EnumValue{static_cast<uint8_t>(number)}, number != 0};
}

void WriteEnum(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const EnumValue* attr = Get<EnumValue>(value);
  if (!IsText(field)) return SetNumber(field, target, attr == nullptr ? field.def->default_int : attr->index);
  if (attr != nullptr) SetText(field, target, field.def->enum_names[attr->index]);
}

DecodeResult ReadEnumList(const AttrField& field, const AttrSource& source) {
  std::vector<EnumValue> values;
  bool any = false;
  for (int32_t number : List<int32_t>(field, source)) {
    if (number < 0 || number >= std::ssize(field.def->enum_names)) return UnknownValue(*field.def, StrCat(number));
    values.push_back({static_cast<uint8_t>(number)});
    any |= number != 0;
  }
  return DecodedAttr{EnumList(source.module.arena.Copy(values)), any};
}

void WriteEnumList(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const EnumList* attr = Get<EnumList>(value);
  // A list of defaults is not written, as it is not printed.
  if (attr == nullptr || std::all_of(attr->begin(), attr->end(), [](EnumValue entry) { return entry.index == 0; }))
    return;
  auto list = MutableList<int32_t>(field, target);
  for (EnumValue entry : *attr) list.Add(entry.index);
}

// ---- lists. An empty list still creates the message that contains it, which XLA requires.

DecodeResult ReadInts(const AttrField& field, const AttrSource& source) {
  auto list = List<int64_t>(field, source);
  std::vector<int64_t> ints(list.begin(), list.end());
  return DecodedAttr{Ints(source.module.arena.Copy(ints)), !ints.empty()};
}

void WriteInts(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const Ints* attr = Get<Ints>(value);
  auto list = MutableList<int64_t>(field, target);
  if (attr == nullptr) return;
  for (int64_t entry : *attr) list.Add(entry);
}

DecodeResult ReadBools(const AttrField& field, const AttrSource& source) {
  auto list = List<bool>(field, source);
  std::span<bool> bools = source.module.arena.NewSpan<bool>(static_cast<size_t>(list.size()));
  std::copy(list.begin(), list.end(), bools.begin());
  return DecodedAttr{std::span<const bool>(bools), !bools.empty()};
}

void WriteBools(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  const auto* attr = Get<std::span<const bool>>(value);
  if (attr == nullptr) return;
  auto list = MutableList<bool>(field, target);
  for (bool entry : *attr) list.Add(entry);
}

}  // namespace

const AttrCodec kBoolCodec{ReadBool, WriteBool};
const AttrCodec kIntCodec{ReadInt, WriteInt};
const AttrCodec kFloatCodec{ReadFloat, WriteFloat};
const AttrCodec kStringCodec{ReadString, WriteString};
const AttrCodec kEnumCodec{ReadEnum, WriteEnum};
const AttrCodec kEnumListCodec{ReadEnumList, WriteEnumList};
const AttrCodec kIntsCodec{ReadInts, WriteInts};
const AttrCodec kBoolsCodec{ReadBools, WriteBools};

}  // namespace shoal::internal
