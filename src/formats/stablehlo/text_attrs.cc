// Attributes: numbers, strings, lists, dictionaries, #stablehlo.dot<…>, array<i64: 1, 2>.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/ir/literal.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {

const MlirAttr* MlirTextReader::Keyword(std::string_view text) {
  const MlirAttr*& attr = keywords_[text];
  if (attr == nullptr) {
    MlirAttr* keyword = NewAttr(Kind::kKeyword);
    keyword->text = text;
    attr = keyword;
  }
  return attr;
}

const MlirAttr* MlirTextReader::IntAttr(int64_t value) {
  const MlirAttr*& attr = small_ints_[value];
  if (attr == nullptr) {
    MlirAttr* number = NewAttr(Kind::kInt);
    number->number = value;
    attr = number;
  }
  return attr;
}

const MlirAttr* MlirTextReader::IntsAttr(std::vector<int64_t>& values) {
  MlirAttr* attr = NewAttr(Kind::kInts);
  attr->ints = module_.arena.Copy(values);
  return attr;
}

bool MlirTextReader::ReadInts(std::vector<int64_t>& values) {
  if (!Expect('[')) return false;
  if (Eat(']')) return true;
  do {
    int64_t value = 0;
    if (!ReadInt(&value)) return false;
    values.push_back(value);
  } while (Eat(','));
  return Expect(']');
}

const MlirType* MlirTextReader::ReadOptionalColonType() { return Eat(':') ? ReadType() : nullptr; }

const MlirAttr* MlirTextReader::ReadAttr() {
  if (++depth_ > kMaxDepth) {
    Error("attributes are nested too deeply");
    return nullptr;
  }
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  const char c = Peek();
  if ((c >= '0' && c <= '9') || c == '-') return ReadNumber();
  if (c == '[') return ReadArray();
  if (c == '#') return ReadHashAttr();
  if (c == '"') {
    MlirAttr* attr = NewAttr(Kind::kString);
    if (!ReadString(&attr->text)) return nullptr;
    if (Eat(':') && ReadType() == nullptr) return nullptr;
    return attr;
  }
  if (c == '@') {
    MlirAttr* attr = NewAttr(Kind::kSymbol);
    return ReadSymbol(&attr->text) ? attr : nullptr;
  }
  if (c == '{') {
    ++at_;
    Attrs fields;
    if (!ReadDictionary(fields, '}')) return nullptr;
    MlirAttr* attr = NewAttr(Kind::kDictionary);
    attr->fields = module_.arena.Copy(fields);
    return attr;
  }
  if (c == '!' || c == '(') {
    MlirAttr* attr = NewAttr(Kind::kType);
    attr->type = ReadType();
    return attr->type == nullptr ? nullptr : attr;
  }
  return ReadWordAttr();
}

// true, unit, dense<…>, array<…>, loc(…), affine_map<…>, a type
const MlirAttr* MlirTextReader::ReadWordAttr() {
  const char* const start = at_;
  const std::string_view word = ReadBareName();
  if (word == "true" || word == "false") {
    MlirAttr* attr = NewAttr(Kind::kBool);
    attr->number = word == "true" ? 1 : 0;
    return attr;
  }
  if (word == "unit") return NewAttr(Kind::kUnit);
  if (word == "dense") return ReadDense();
  if (word == "dense_resource") return ReadDenseResource();
  if (word == "array") return ReadTypedArray();
  if (word == "affine_map" || word == "affine_set" || word == "strided" || word == "distinct" || word == "sparse") {
    std::string_view ignored;
    if (word == "distinct" && !ReadBalanced(&ignored)) return nullptr;
    if (!ReadBalanced(&ignored)) return nullptr;
    MlirAttr* attr = NewAttr(Kind::kOpaque);
    attr->text = {start, static_cast<size_t>(at_ - start)};
    if (Eat(':') && ReadType() == nullptr) return nullptr;
    return attr;
  }
  at_ = start;
  if (word == "loc") return ReadLocation() == nullptr ? nullptr : NewAttr(Kind::kUnit);
  if (word.empty()) {
    Error("expected an attribute");
    return nullptr;
  }
  MlirAttr* attr = NewAttr(Kind::kType);
  attr->type = ReadType();
  return attr->type == nullptr ? nullptr : attr;
}

// 3 : i64, 1.5 : f32, 0x7FC00000 : f32
const MlirAttr* MlirTextReader::ReadNumber() {
  const char* const start = at_;
  const char* digits = *start == '-' ? start + 1 : start;
  const bool hex = end_ - digits > 2 && digits[0] == '0' && digits[1] == 'x';
  MlirAttr number;
  if (hex) {
    uint64_t bits = 0;
    const auto [stop, error] = std::from_chars(digits + 2, end_, bits, 16);
    if (error != std::errc()) {
      Error("expected a hexadecimal number of at most 64 bits");
      return nullptr;
    }
    at_ = stop;
    number.kind = Kind::kInt;
    number.number = static_cast<int64_t>(*start == '-' ? -bits : bits);
  } else {
    const char* stop = digits;
    while (stop != end_ && *stop >= '0' && *stop <= '9') ++stop;
    if (stop != end_ && *stop == '.') {
      number.kind = Kind::kFloat;
      const auto [after, error] = std::from_chars(start, end_, number.real);
      if (error == std::errc::invalid_argument) {
        Error("expected a number");
        return nullptr;
      }
      if (error == std::errc::result_out_of_range) number.real = std::strtod(std::string(start, after).c_str(), nullptr);
      at_ = after;
    } else {
      number.kind = Kind::kInt;
      uint64_t magnitude = 0;
      const auto [after, error] = std::from_chars(digits, end_, magnitude);
      if (error != std::errc()) {
        Error("expected an integer of at most 64 bits");
        return nullptr;
      }
      at_ = after;
      number.number = static_cast<int64_t>(*start == '-' ? -magnitude : magnitude);
    }
  }
  number.type = ReadOptionalColonType();
  if (failed_) return nullptr;
  if (number.type != nullptr && number.kind == Kind::kInt && IsFloat(number.type->element)) {
    number.kind = Kind::kFloat;
    number.real = hex ? DecodeFloat(number.type->element, static_cast<uint64_t>(number.number))
                      : static_cast<double>(number.number);
  }
  return module_.arena.New<MlirAttr>(number);
}

// [1, 2] is a list of integers; other lists are arrays.
const MlirAttr* MlirTextReader::ReadArray() {
  if (!Expect('[')) return nullptr;
  std::vector<const MlirAttr*> elements;
  if (!Eat(']')) {
    do {
      elements.push_back(ReadAttr());
      if (elements.back() == nullptr) return nullptr;
    } while (Eat(','));
    if (!Expect(']')) return nullptr;
  }
  const bool ints = std::all_of(elements.begin(), elements.end(),
                                [](const MlirAttr* attr) { return attr->kind == Kind::kInt; });
  if (!ints || elements.empty()) {
    MlirAttr* attr = NewAttr(Kind::kArray);
    attr->elements = module_.arena.Copy(elements);
    return attr;
  }
  std::vector<int64_t> values;
  for (const MlirAttr* element : elements) values.push_back(element->number);
  return IntsAttr(values);
}

// array<i64: 1, 2>
const MlirAttr* MlirTextReader::ReadTypedArray() {
  if (!Expect('<')) return nullptr;
  const MlirType* type = ReadType();
  if (type == nullptr) return nullptr;
  std::vector<int64_t> values;
  std::vector<const MlirAttr*> elements;
  if (Eat(':') && Peek() != '>') {
    do {
      if (EatKeyword("true")) {
        values.push_back(1);
      } else if (EatKeyword("false")) {
        values.push_back(0);
      } else {
        const MlirAttr* value = ReadNumber();
        if (value == nullptr) return nullptr;
        elements.push_back(value);
        values.push_back(value->number);
      }
    } while (Eat(','));
  }
  if (!Expect('>')) return nullptr;
  if (!IsFloat(type->element)) {
    MlirAttr* attr = NewAttr(Kind::kInts);
    attr->ints = module_.arena.Copy(values);
    attr->type = type;
    return attr;
  }
  MlirAttr* attr = NewAttr(Kind::kArray);
  attr->elements = module_.arena.Copy(elements);
  return attr;
}

// A reference to an alias, or an attribute of a dialect: #name, #stablehlo.dot<…>, #stablehlo<precision DEFAULT>.
const MlirAttr* MlirTextReader::ReadHashAttr() {
  const char* const start = at_++;
  const std::string_view name = ReadBareName();
  if (const auto alias = attr_aliases_.find(name); alias != attr_aliases_.end()) return alias->second;
  if (name.empty() || (name.find('.') == name.npos && (at_ == end_ || *at_ != '<'))) {
    ErrorAt(start, StrCat("the attribute alias #", name, " is not defined"));
    return nullptr;
  }
  return ReadDialectAttr(start, name);
}

const MlirAttr* MlirTextReader::ReadDialectAttr(const char* start, std::string_view name) {
  const std::string_view dialect = name.substr(0, name.find('.'));
  const bool known = dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo";
  if (!known || at_ == end_ || *at_ != '<') {
    MlirAttr* attr = NewAttr(Kind::kOpaque);
    std::string_view ignored;
    if (at_ != end_ && *at_ == '<' && !ReadBalanced(&ignored)) return nullptr;
    attr->text = {start, static_cast<size_t>(at_ - start)};
    return attr;
  }
  ++at_;
  // #stablehlo<precision DEFAULT> and #stablehlo.mode<DEFAULT>
  const char* const inside = at_;
  const std::string_view word = ReadBareName();
  if (name == dialect && !word.empty()) {
    if (Peek() == '<') {  // #stablehlo<dot …>: an older spelling
      std::string_view ignored;
      if (!ReadBalanced(&ignored)) return nullptr;
    }
    const std::string_view value = ReadBareName();
    if (!Expect('>')) return nullptr;
    return Keyword(value);
  }
  if (!word.empty() && Peek() == '>') {
    ++at_;
    return Keyword(word);
  }
  at_ = inside;
  Attrs fields;
  if (name.ends_with(".conv")) {
    std::string_view raw;
    const bool is_raw = AtKeyword("raw");
    if (!is_raw && !ReadConvDimensions(fields)) return nullptr;
    if (is_raw && (!EatKeyword("raw") || !ReadDictionary(fields, '>'))) return nullptr;
    if (!is_raw && !Expect('>')) return nullptr;
  } else if (!ReadDictionary(fields, '>')) {
    return nullptr;
  }
  MlirAttr* attr = NewAttr(Kind::kDictionary);
  attr->text = name;
  attr->fields = module_.arena.Copy(fields);
  return attr;
}

// Entries up to `close`: name = value, "name" = value, or a name alone.
bool MlirTextReader::ReadDictionary(Attrs& attrs, char close) {
  if (Eat(close)) return true;
  do {
    if (Peek() == close) break;  // a comma may precede the end
    std::string_view name;
    if (Peek() == '"') {
      if (!ReadString(&name)) return false;
    } else {
      name = ReadWord();
      if (name.empty()) return Error("expected the name of an attribute");
    }
    const MlirAttr* value = nullptr;
    if (!Eat('=')) {
      value = NewAttr(Kind::kUnit);
    } else if (Peek() == '(' && name == "sub_axis_info") {  // (pre_size)size
      int64_t pre_size = 0, size = 0;
      if (!Expect('(') || !ReadInt(&pre_size) || !Expect(')') || !ReadInt(&size)) return false;
      MlirAttr* sub = NewAttr(Kind::kDictionary);
      const MlirNamedAttr fields[] = {{"pre_size", IntAttr(pre_size)}, {"size", IntAttr(size)}};
      sub->fields = module_.arena.Copy(fields);
      value = sub;
    } else if (Peek() == '<' || (close == '>' && Peek() != '"' && Peek() != '[' && Peek() != '{')) {
      // Fields of a dialect's attribute: nested fields without a name, enum values without a dialect.
      if (Peek() == '<') {
        ++at_;
        Attrs fields;
        if (!ReadDictionary(fields, '>')) return false;
        MlirAttr* nested = NewAttr(Kind::kDictionary);
        nested->fields = module_.arena.Copy(fields);
        value = nested;
      } else {
        const char* const start = at_;
        const std::string_view word = ReadBareName();
        const char next = Peek();
        const bool keyword = !word.empty() && !(word[0] >= '0' && word[0] <= '9') && (next == ',' || next == '>') &&
                             word != "true" && word != "false";
        if (keyword) {
          value = Keyword(word);
        } else {
          at_ = start;
          value = ReadAttr();
        }
      }
    } else {
      value = ReadAttr();
    }
    if (value == nullptr) return false;
    attrs.push_back({name, value});
  } while (Eat(','));
  return Expect(close);
}

bool MlirTextReader::ReadOptionalAttrDict(Attrs& attrs) {
  if (Peek() != '{') return true;
  ++at_;
  return ReadDictionary(attrs, '}');
}

}  // namespace shoal::internal
