#include "formats/proto/json.h"

#include <cmath>

#include "absl/strings/escaping.h"
#include "core/base/strings.h"
#include "core/ir/element_type.h"
#include "hlo.pb.h"

namespace shoal::internal {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Returns the length of the UTF-8 character at the start of `text`, or 0 if it is invalid.
size_t Utf8Length(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) return 0;
  const auto second = length > 1 ? static_cast<uint8_t>(text[1]) : 0;
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

class JsonWriter {
 public:
  std::string out;

  void WriteMessage(const Message& message) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    if (fields.empty()) {
      out += "{}";
      return;
    }
    out += '{';
    ++depth_;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) out += ',';
      NewLine();
      WriteText(fields[i]->name());
      out += ": ";
      WriteField(message, *fields[i]);
    }
    --depth_;
    NewLine();
    out += '}';
  }

 private:
  void NewLine() {
    out += '\n';
    out.append(size_t{2} * static_cast<size_t>(depth_), ' ');
  }

  void WriteField(const Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    if (!field.is_repeated()) return WriteValue(message, field, -1);
    if (IsMap(field)) return WriteMap(message, field);
    const bool multi_line = field.message_type() != nullptr;
    const int count = reflection.FieldSize(message, &field);
    out += '[';
    if (multi_line) ++depth_;
    for (int i = 0; i < count; ++i) {
      if (i > 0) out += multi_line ? "," : ", ";
      if (multi_line) NewLine();
      WriteValue(message, field, i);
    }
    if (multi_line) {
      --depth_;
      NewLine();
    }
    out += ']';
  }

  // The schema declares maps as repeated entries of key and value.
  static bool IsMap(const FieldDescriptor& field) {
    const google::protobuf::Descriptor* entry = field.message_type();
    return entry != nullptr && entry->name() == "Entry" && entry->FindFieldByName("key") != nullptr;
  }

  void WriteMap(const Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    out += '{';
    ++depth_;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      const FieldDescriptor& key = *field.message_type()->FindFieldByName("key");
      if (i > 0) out += ',';
      NewLine();
      const bool quoted = key.cpp_type() != FieldDescriptor::CPPTYPE_STRING;
      if (quoted) out += '"';
      WriteValue(entry, key, -1);
      out += quoted ? "\": " : ": ";
      WriteValue(entry, *field.message_type()->FindFieldByName("value"), -1);
    }
    --depth_;
    NewLine();
    out += '}';
  }

  // Writes one value; `i` is its index in a list, or -1.
  void WriteValue(const Message& message, const FieldDescriptor& field, int i) {
    const Reflection& r = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        out += (i < 0 ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, i)) ? "true" : "false";
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        WriteInt32(field, i < 0 ? r.GetInt32(message, &field) : r.GetRepeatedInt32(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        StrAppend(&out, i < 0 ? r.GetInt64(message, &field) : r.GetRepeatedInt64(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        StrAppend(&out, i < 0 ? r.GetUInt32(message, &field) : r.GetRepeatedUInt32(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        StrAppend(&out, i < 0 ? r.GetUInt64(message, &field) : r.GetRepeatedUInt64(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        WriteNumber(i < 0 ? r.GetFloat(message, &field) : r.GetRepeatedFloat(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        WriteNumber(i < 0 ? r.GetDouble(message, &field) : r.GetRepeatedDouble(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string text = i < 0 ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, i);
        if (&field == OriginalArrayField()) {
          proto::OriginalArrayProto array;
          array.ParseFromString(text);
          WriteMessage(array);
          break;
        }
        // The elements of a literal are binary data.
        const bool raw = field.containing_type() == proto::LiteralProto::descriptor();
        WriteText(raw ? absl::Base64Escape(text) : text);
        break;
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        WriteMessage(i < 0 ? r.GetMessage(message, &field) : r.GetRepeatedMessage(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        break;  // the schema has none
    }
  }

  // This field is declared as bytes, because older files have a name there.
  static const FieldDescriptor* OriginalArrayField() {
    using Element = proto::OriginalValueElementProto;
    return Element::descriptor()->FindFieldByNumber(Element::kOriginalArrayFieldNumber);
  }

  void WriteInt32(const FieldDescriptor& field, int32_t value) {
    const bool is_type = field.name() == "element_type" || field.name().ends_with("_primitive_type");
    const std::string_view name = is_type ? Text(static_cast<ElementType>(value)) : "";
    if (name.empty()) {
      StrAppend(&out, value);
      return;
    }
    out += '"';
    for (char c : name) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (static_cast<ElementType>(value) == ElementType::kOpaque) out += "_TYPE";
    out += '"';
  }

  // NaN and infinities are written as strings, because JSON has no numbers for them.
  template <class T>
  void WriteNumber(T value) {
    if (std::isfinite(value)) {
      char buffer[40];
      out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
    } else {
      out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    }
  }

  void WriteText(std::string_view text) {
    out += '"';
    while (!text.empty()) {
      const char c = text[0];
      const size_t length = Utf8Length(text);
      if (c == '"' || c == '\\') {
        StrAppend(&out, '\\', c);
      } else if (c == '\n') {
        out += "\\n";
      } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
        const std::string code = Hex(static_cast<uint8_t>(c));
        StrAppend(&out, "\\u", std::string(4 - code.size(), '0'), code);
      } else if (length == 0) {
        out += "\\ufffd";  // invalid UTF-8
      } else {
        out += text.substr(0, length);
      }
      text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
  }

  int depth_ = 0;
};

}  // namespace

std::string ToJson(const Message& message) {
  JsonWriter writer;
  writer.WriteMessage(message);
  writer.out += '\n';
  return std::move(writer.out);
}

}  // namespace shoal::internal
