// Elements of tensors: dense<[[1, 2], [3, 4]]>, dense<"0x…">, dense<1.5>, dense_resource<name>.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/ir/literal.h"
#include "core/ir/sizes.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {
namespace {

constexpr std::array<int8_t, 256> kHexDigits = [] {
  std::array<int8_t, 256> digits{};
  digits.fill(-1);
  for (int i = 0; i < 10; ++i) digits[static_cast<size_t>('0' + i)] = static_cast<int8_t>(i);
  for (int i = 0; i < 6; ++i)
    digits[static_cast<size_t>('a' + i)] = digits[static_cast<size_t>('A' + i)] = static_cast<int8_t>(10 + i);
  return digits;
}();

ElementType PartOf(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

// The values between the brackets of dense<…>, before their type is known: the position of each number, and the size of
// each dimension.
struct DenseText {
  std::vector<const char*> numbers;
  std::vector<int64_t> dims;  // empty for a single value
  bool ragged = false;
};

class DenseScanner {
 public:
  DenseScanner(const char* at, const char* end) : at_(at), end_(end) {}

  // Reads up to '>'. False at the end of the text or on an unexpected character.
  bool Scan(DenseText& text) {
    int64_t depth = 0;
    std::vector<int64_t> counts;
    bool closed = false;
    for (;; ++at_) {
      while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == ',' || *at_ == '\t' || *at_ == '\r')) ++at_;
      if (at_ == end_) return false;
      const char c = *at_;
      if (c == '>') return depth == 0;
      if (c == '[') {
        if (depth > 0) ++counts[static_cast<size_t>(depth - 1)];
        if (depth == 0 && closed) return false;
        ++depth;
        if (depth > 64) return false;
        counts.push_back(0);
      } else if (c == ']') {
        if (depth == 0) return false;
        --depth;
        const int64_t size = counts.back();
        counts.pop_back();
        const auto level = static_cast<size_t>(depth);
        if (text.dims.size() <= level) text.dims.resize(level + 1, -1);
        if (text.dims[level] < 0) text.dims[level] = size;
        text.ragged |= text.dims[level] != size;
        closed = true;
      } else {
        if (depth > 0) ++counts[static_cast<size_t>(depth - 1)];
        text.numbers.push_back(at_);
        if (c == '(') {
          while (at_ != end_ && *at_ != ')') ++at_;
          if (at_ == end_) return false;
          continue;
        }
        while (at_ != end_ && *at_ != ',' && *at_ != ']' && *at_ != '>' && *at_ != ' ' && *at_ != '\n') ++at_;
        --at_;
      }
    }
  }
  const char* at() const { return at_; }

 private:
  const char* at_;
  const char* end_;
};

// Stores one number of `type` at `out`; returns its end, or null.
const char* ReadElement(const char* at, const char* end, ElementType type, std::byte* out) {
  const auto bytes = static_cast<size_t>(StorageBytes(type));
  auto store = [&](uint64_t bits) { std::memcpy(out, &bits, std::min<size_t>(bytes, 8)); };
  auto matches = [&](std::string_view word) {
    return static_cast<size_t>(end - at) >= word.size() && std::string_view(at, word.size()) == word;
  };
  if (matches("true") || matches("false")) {
    if (type != ElementType::kPred) return nullptr;
    store(*at == 't' ? 1 : 0);
    return at + (*at == 't' ? 4 : 5);
  }
  const bool negative = *at == '-';
  const char* const digits = negative ? at + 1 : at;
  if (end - digits > 2 && digits[0] == '0' && digits[1] == 'x') {
    uint64_t bits = 0;
    const auto [stop, error] = std::from_chars(digits + 2, end, bits, 16);
    if (error != std::errc()) return nullptr;
    store(negative ? -bits : bits);
    return stop;
  }
  if (IsFloat(type)) {
    double value = 0;
    auto [stop, error] = std::from_chars(at, end, value);
    if (error == std::errc::invalid_argument) return nullptr;
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(at, stop).c_str(), nullptr);
    if (type == ElementType::kF64) {
      std::memcpy(out, &value, 8);
    } else if (type == ElementType::kF32) {
      const auto narrow = static_cast<float>(value);
      std::memcpy(out, &narrow, 4);
    } else {
      store(EncodeFloat(type, value));
    }
    return stop;
  }
  uint64_t magnitude = 0;
  const auto [stop, error] = std::from_chars(digits, end, magnitude);
  if (error != std::errc()) return nullptr;
  const int width = BitWidth(type);
  if (width < 64 && magnitude >> width != 0) return nullptr;
  if (negative && IsUnsigned(type)) return nullptr;
  store(negative ? -magnitude : magnitude);
  return stop;
}

}  // namespace

const MlirAttr* MlirTextReader::ReadDense() {
  if (!Expect('<')) return nullptr;
  MlirAttr* attr = NewAttr(Kind::kDense);
  const char* const start = at_;
  if (Peek() == '"') {
    std::string_view hex;
    if (!ReadString(&hex) || !Expect('>') || !Expect(':')) return nullptr;
    attr->type = ReadType();
    if (attr->type == nullptr || !ReadHexElements(hex, attr)) return nullptr;
    return attr;
  }
  if (At("__elided__")) {
    ReadBareName();
    if (!Expect('>') || !Expect(':')) return nullptr;
    attr->elided = true;
    attr->type = ReadType();
    return attr->type == nullptr ? nullptr : attr;
  }
  DenseScanner scanner(at_, end_);
  DenseText text;
  if (!scanner.Scan(text)) {
    ErrorAt(std::min(scanner.at(), end_), "expected the elements of a tensor, dense<[1, 2]>");
    return nullptr;
  }
  at_ = scanner.at();
  if (!Expect('>') || !Expect(':')) return nullptr;
  const char* const type_at = at_;
  attr->type = ReadType();
  if (attr->type == nullptr) return nullptr;
  const ElementType element = attr->type->element;
  if (attr->type->kind != MlirType::Kind::kTensor || !IsArrayType(element)) {
    if (attr->type->kind == MlirType::Kind::kTensor) {  // strings, quantised numbers, …
      attr->kind = Kind::kOpaque;
      attr->text = {start, static_cast<size_t>(at_ - start)};
      return attr;
    }
    ErrorAt(type_at, "the elements of dense<> need a tensor type");
    return nullptr;
  }
  const bool single = text.dims.empty();
  // dense<> of an empty tensor has no values.
  const bool fits = single ? text.numbers.size() <= 1
                           : !text.ragged && std::equal(text.dims.begin(), text.dims.end(), attr->type->dims.begin(),
                                                        attr->type->dims.end());
  const int64_t count = SaturatingProduct(attr->type->dims);
  if ((!fits && count != 0) || (text.numbers.empty() && count != 0)) {
    ErrorAt(start, "the elements do not have the shape of the tensor");
    return nullptr;
  }
  attr->splat = single && count != 0;
  const auto bytes = static_cast<size_t>(StorageBytes(element));
  const std::span<std::byte> data = module_.arena.NewSpan<std::byte>(bytes * (count == 0 ? 0 : text.numbers.size()));
  if (count == 0) text.numbers.clear();
  const ElementType part = PartOf(element);
  std::byte* out = data.data();
  for (const char* number : text.numbers) {
    const char* stop = nullptr;
    if (*number != '(') {
      stop = part == element ? ReadElement(number, end_, element, out) : nullptr;
    } else if (part != element) {
      auto skip = [&](const char* p) {
        while (p != end_ && (*p == ' ' || *p == ',')) ++p;
        return p;
      };
      stop = ReadElement(skip(number + 1), end_, part, out);
      if (stop != nullptr) stop = ReadElement(skip(stop), end_, part, out + bytes / 2);
    }
    if (stop == nullptr) {
      ErrorAt(number, StrCat("expected an element of type ", Text(element)));
      return nullptr;
    }
    out += bytes;
  }
  attr->data = data;
  return attr;
}

// "0x…": the bytes of the elements, little-endian. i1 takes a byte per element.
bool MlirTextReader::ReadHexElements(std::string_view hex, MlirAttr* attr) {
  const char* const at = at_;
  if (!hex.starts_with("0x") || hex.size() % 2 != 0) return ErrorAt(at, "expected hexadecimal digits, \"0x…\"");
  hex.remove_prefix(2);
  if (attr->type->kind != MlirType::Kind::kTensor || !IsArrayType(attr->type->element))
    return ErrorAt(at, "the elements of dense<> need a tensor type");
  const std::span<std::byte> data = module_.arena.NewSpan<std::byte>(hex.size() / 2);
  int bad = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    const int high = kHexDigits[static_cast<uint8_t>(hex[2 * i])], low = kHexDigits[static_cast<uint8_t>(hex[2 * i + 1])];
    bad |= high | low;
    data[i] = static_cast<std::byte>(high * 16 + low);
  }
  if (bad < 0) return ErrorAt(at, "expected hexadecimal digits");
  const int64_t size = StorageBytes(attr->type->element);
  const int64_t count = SaturatingProduct(attr->type->dims);
  const bool is_splat = std::ssize(data) == size && count != 1;
  if (!is_splat && std::ssize(data) != SaturatingMul(count, size))
    return ErrorAt(at, StrCat("the tensor has ", count, " elements of ", size, " bytes, found ", data.size(), " bytes"));
  attr->splat = is_splat;
  attr->data = data;
  return true;
}

// dense_resource<name> : type. The bytes are in the resources at the end of the file.
const MlirAttr* MlirTextReader::ReadDenseResource() {
  if (!Expect('<')) return nullptr;
  const std::string_view name = ReadWord();
  if (name.empty() || !Expect('>') || !Expect(':')) {
    Error("expected the name of a resource");
    return nullptr;
  }
  MlirAttr* attr = NewAttr(Kind::kDense);
  attr->type = ReadType();
  if (attr->type == nullptr) return nullptr;
  attr->elided = true;
  resources_.emplace_back(name, attr);
  return attr;
}

// {-# dialect_resources: { builtin: { name: "0x08000000…" } } #-}
bool MlirTextReader::ReadResources() {
  if (!Expect("{-#")) return false;
  int depth = 0;
  while (!At("#-}")) {
    if (at_ == end_) return Error("the resources are not closed by #-}");
    if (Eat(',')) continue;
    if (Eat('}')) {
      if (--depth < 0) return Error("'}' without '{'");
      continue;
    }
    std::string_view name;
    if (Peek() == '"') {
      if (!ReadString(&name)) return false;
    } else {
      name = ReadWord();
      if (name.empty()) return Error("expected the name of a resource");
    }
    if (!Expect(':')) return false;
    if (Eat('{')) {
      ++depth;
      continue;
    }
    if (Peek() != '"') {
      if (ReadAttr() == nullptr) return false;
      continue;
    }
    std::string_view hex;
    if (!ReadString(&hex)) return false;
    for (auto& [wanted, attr] : resources_) {
      if (wanted != name || !attr->elided) continue;
      // The first four bytes are the alignment.
      if (hex.size() < 10) return Error("a resource needs at least four bytes");
      const std::string bytes = StrCat("0x", hex.substr(10));
      if (!ReadHexElements(bytes, attr)) return false;
      attr->elided = false;
    }
  }
  at_ += 3;
  return true;
}

}  // namespace shoal::internal
