#include "formats/stablehlo/mlir_text.h"

#include <charconv>
#include <cmath>

#include "core/base/strings.h"
#include "core/ir/literal.h"
#include "formats/stablehlo/element_names.h"

namespace shoal::internal {
namespace {

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 32 || byte == 127) {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      out += '\\';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// 0x7FC00000
std::string BitsText(uint64_t bits, ElementType type) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text = "0x";
  for (int digit = (BitWidth(type) + 3) / 4; digit-- > 0;) text += kDigits[(bits >> (4 * digit)) & 15];
  return text;
}

void AppendElements(std::string& out, const MlirAttr& attr, size_t dim, size_t* next) {
  const size_t bytes = static_cast<size_t>(StorageBytes(attr.type->element));
  if (dim == attr.type->dims.size()) {
    if ((*next + 1) * bytes <= attr.data.size()) {
      const std::byte* element = attr.data.data() + *next * bytes;
      if (IsFloat(attr.type->element)) {
        uint64_t bits = 0;
        std::copy(element, element + bytes, reinterpret_cast<std::byte*>(&bits));
        const double value = DecodeFloat(attr.type->element, bits);
        out += std::isfinite(value) ? FloatText(value, attr.type->element) : BitsText(bits, attr.type->element);
      } else {
        AppendElement(out, attr.type->element, element);
      }
    }
    ++*next;
    return;
  }
  out += '[';
  for (int64_t i = 0; i < attr.type->dims[dim]; ++i) {
    if (i > 0) out += ", ";
    if ((*next) * bytes >= attr.data.size()) break;
    AppendElements(out, attr, dim + 1, next);
  }
  out += ']';
}

void AppendAttr(std::string& out, const MlirAttr& attr, int depth);

void AppendFields(std::string& out, std::span<const MlirNamedAttr> fields, int depth) {
  for (const MlirNamedAttr& field : fields) {
    if (&field != fields.data()) out += ", ";
    StrAppend(&out, field.name);
    if (field.value->kind == MlirAttr::Kind::kUnit) continue;
    out += " = ";
    AppendAttr(out, *field.value, depth + 1);
  }
}

void AppendAttr(std::string& out, const MlirAttr& attr, int depth) {
  if (depth > 200) return;
  auto append_type = [&] {
    if (attr.type != nullptr) StrAppend(&out, " : ", TypeText(*attr.type));
  };
  switch (attr.kind) {
    case MlirAttr::Kind::kUnit:
      out += "unit";
      break;
    case MlirAttr::Kind::kBool:
      out += attr.number != 0 ? "true" : "false";
      break;
    case MlirAttr::Kind::kInt:
      StrAppend(&out, attr.number);
      append_type();
      break;
    case MlirAttr::Kind::kFloat:
      out += FloatText(attr.real, attr.type == nullptr ? ElementType::kF64 : attr.type->element);
      append_type();
      break;
    case MlirAttr::Kind::kString:
      AppendQuoted(out, attr.text);
      break;
    case MlirAttr::Kind::kSymbol:
      StrAppend(&out, "@", attr.text);
      break;
    case MlirAttr::Kind::kKeyword:
    case MlirAttr::Kind::kOpaque:
      out += attr.text;
      break;
    case MlirAttr::Kind::kInts:
      out += attr.type == nullptr ? "[" : StrCat("array<", TypeText(*attr.type), attr.ints.empty() ? "" : ": ");
      for (const int64_t& value : attr.ints) StrAppend(&out, &value == attr.ints.data() ? "" : ", ", value);
      out += attr.type == nullptr ? "]" : ">";
      break;
    case MlirAttr::Kind::kArray:
      out += '[';
      for (const MlirAttr* const& element : attr.elements) {
        if (&element != attr.elements.data()) out += ", ";
        AppendAttr(out, *element, depth + 1);
      }
      out += ']';
      break;
    case MlirAttr::Kind::kDictionary:
      if (!attr.text.empty()) StrAppend(&out, "#", attr.text);
      out += attr.text.empty() ? '{' : '<';
      AppendFields(out, attr.fields, depth);
      out += attr.text.empty() ? '}' : '>';
      break;
    case MlirAttr::Kind::kDense: {
      out += "dense<";
      size_t next = 0;
      if (attr.elided) {
        out += "__elided__";
      } else if (attr.splat) {
        MlirAttr one = attr;
        MlirType scalar = *attr.type;
        scalar.dims = {};
        one.type = &scalar;
        AppendElements(out, one, 0, &next);
      } else {
        AppendElements(out, attr, 0, &next);
      }
      out += '>';
      append_type();
      break;
    }
    case MlirAttr::Kind::kType:
      out += TypeText(*attr.type);
      break;
  }
}

}  // namespace

// 1.000000e+00, as MLIR writes numbers if that is exact, else with more digits; the bits if the value is not finite.
std::string FloatText(double value, ElementType type) {
  if (!std::isfinite(value)) return BitsText(EncodeFloat(type, value), type);
  char text[64];
  char* end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific, 6).ptr;
  double back = 0;
  std::from_chars(text, end, back);
  if (EncodeFloat(type, back) != EncodeFloat(type, value))
    end = type == ElementType::kF64
              ? std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr
              : std::to_chars(text, text + sizeof(text), static_cast<float>(value), std::chars_format::scientific).ptr;
  const std::string_view shortest(text, static_cast<size_t>(end - text));
  const size_t exponent = shortest.find('e');
  std::string out(shortest.substr(0, exponent));
  if (out.find('.') == out.npos) out += ".0";
  return out += shortest.substr(exponent);
}

void AppendAttrText(std::string& out, const MlirAttr& attr) { AppendAttr(out, attr, 0); }

std::string QuotedText(std::string_view text) {
  std::string out;
  AppendQuoted(out, text);
  return out;
}

// @name, @"na me"
std::string SymbolText(std::string_view name) {
  bool bare = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name[0] != '$' && name[0] != '.';
  for (const char c : name)
    bare &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
  return StrCat("@", bare ? std::string(name) : QuotedText(name));
}

std::string AttrText(const MlirAttr& attr) {
  std::string out;
  AppendAttr(out, attr, 0);
  return out;
}

std::string TypeText(const MlirType& type) {
  std::string out;
  auto list = [&](std::span<const MlirType* const> types) {
    for (const MlirType* const& each : types) StrAppend(&out, &each == types.data() ? "" : ", ", TypeText(*each));
  };
  switch (type.kind) {
    case MlirType::Kind::kElement:
      return MlirNameOf(type.element);
    case MlirType::Kind::kTensor:
    case MlirType::Kind::kBuffer:
      out = type.kind == MlirType::Kind::kTensor ? "tensor<" : "memref<";
      for (const int64_t dim : type.dims) out += dim == kUnboundedSize ? "?x" : StrCat(dim, "x");
      out += type.element == ElementType::kInvalid ? std::string(type.text) : MlirNameOf(type.element);
      if (!type.bounds.empty()) {
        out += ", #stablehlo.bounds<";
        for (const int64_t& bound : type.bounds)
          StrAppend(&out, &bound == type.bounds.data() ? "" : ", ", bound == kUnboundedSize ? "?" : std::to_string(bound));
        out += '>';
      }
      return out += '>';
    case MlirType::Kind::kUnranked:
      return StrCat("tensor<*x", MlirNameOf(type.element), ">");
    case MlirType::Kind::kTuple:
      out = "tuple<";
      list(type.elements);
      return out += '>';
    case MlirType::Kind::kToken:
      return "!stablehlo.token";
    case MlirType::Kind::kFunction:
      out = "(";
      list(type.elements);
      out += ") -> (";
      list(type.results);
      return out += ')';
    default:
      return std::string(type.text);
  }
}

}  // namespace shoal::internal
