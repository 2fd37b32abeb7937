#include "core/base/npy.h"

#include <charconv>

#include "core/base/printable.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// Reads the header: a Python dict with string keys. Its values are strings, True or False, or tuples of integers.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  Status Read(NpyArray& array) {
    if (!Take('{')) return Fail("has a header that is not a Python dict");
    while (!Take('}')) {
      std::string_view key;
      if (!TakeString(&key) || !Take(':')) return Fail("has a header that is not a Python dict with string keys");
      SHOAL_TRY(ReadValue(key, array));
      if (!Take(',') && Peek() != '}') return Fail(StrCat("has a header that is malformed after '", EscapeName(key), "'"));
    }
    if (!has_descr_) return Fail("has no 'descr' in its header");
    if (!has_order_) return Fail("has no 'fortran_order' in its header");
    if (!has_shape_) return Fail("has no 'shape' in its header");
    return {};
  }

 private:
  Status ReadValue(std::string_view key, NpyArray& array) {
    if (key == "descr") {
      std::string_view descr;
      if (!TakeString(&descr)) return Fail("has a 'descr' that is a structured type, not a single type");
      array.descr = descr;
      has_descr_ = true;
    } else if (key == "fortran_order") {
      array.fortran_order = TakeWord("True");
      if (!array.fortran_order && !TakeWord("False")) return Fail("has a 'fortran_order' other than True or False");
      has_order_ = true;
    } else if (key == "shape") {
      has_shape_ = true;
      return ReadShape(array.dims);
    } else {
      return Fail(StrCat("has an unknown key '", EscapeName(key), "' in its header"));
    }
    return {};
  }

  Status ReadShape(std::vector<int64_t>& dims) {
    if (!Take('(')) return Fail("has a 'shape' that is not a tuple");
    dims.clear();
    while (!Take(')')) {
      Peek();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) return Fail("has a 'shape' with an invalid size");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      TakeWord("L");  // Python 2 wrote 3L
      dims.push_back(size);
      if (!Take(',') && Peek() != ')') return Fail("has a 'shape' that is not a tuple of sizes");
    }
    return {};
  }

  char Peek() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    Peek();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool TakeString(std::string_view* text) {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    *text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string_view rest_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

Status ReadDescr(NpyArray& array) {
  std::string_view descr = array.descr;
  const Diag unknown =
      Fail(StrCat("has the unsupported type '", EscapeName(descr), "'; supported: bool, int, uint, float, complex, void"));
  char order = '=';
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    order = descr[0];
    descr.remove_prefix(1);
  }
  if (descr.size() < 2 || std::string_view("biufcV").find(descr[0]) == std::string_view::npos) return unknown;
  array.kind = descr[0];
  const auto [end, error] = std::from_chars(descr.data() + 1, descr.data() + descr.size(), array.item_bytes);
  if (error != std::errc() || end != descr.data() + descr.size()) return unknown;
  if (array.item_bytes < 1 || array.item_bytes > 16) return unknown;
  if (order == '>' && array.item_bytes > 1 && array.kind != 'V')
    return Fail(StrCat("has the big-endian type '", array.descr, "'; the type must be little-endian"));
  return {};
}

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

Result<NpyArray> ParseNpyHeader(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < kMagic.size() + 4) return Fail("is not an .npy file");
  const auto version = static_cast<uint8_t>(file[kMagic.size()]);
  if (version < 1 || version > 3)
    return Fail(StrCat("has version ", int{version}, " of the .npy format; supported: 1 to 3"));
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = kMagic.size() + 2 + length_bytes;
  if (file.size() < start) return Fail("is truncated within its header");
  const size_t length = LittleEndian(file.substr(kMagic.size() + 2, length_bytes));
  if (file.size() - start < length) return Fail("is truncated within its header");

  NpyArray array;
  SHOAL_TRY(HeaderReader(file.substr(start, length)).Read(array));
  SHOAL_TRY(ReadDescr(array));
  int64_t bytes = array.item_bytes;
  for (int64_t size : array.dims)
    if (size == 0) bytes = 0;
  for (int64_t size : array.dims)
    if (bytes != 0 && __builtin_mul_overflow(bytes, size, &bytes)) return Fail("has a 'shape' whose size overflows");
  array.data_at = start + length;
  array.data_bytes = static_cast<uint64_t>(bytes);
  return array;
}

std::string NpyTruncated(const NpyArray& header, uint64_t data_bytes) {
  return StrCat("is truncated: its shape needs ", header.data_bytes, " bytes of data, it has ", data_bytes);
}

Result<NpyArray> ParseNpy(std::string_view file) {
  Result<NpyArray> array = ParseNpyHeader(file);
  if (!array.ok()) return array;
  const std::string_view data = file.substr(array->data_at);
  if (array->data_bytes > data.size())
    return Fail(NpyTruncated(*array, data.size()));
  array->data = data.substr(0, array->data_bytes);
  return array;
}

std::string NpyHeader(std::string_view descr, const std::vector<int64_t>& dims) {
  std::string dict = StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < dims.size(); ++i)
    StrAppend(&dict, i == 0 ? "" : " ", dims[i], i + 1 < dims.size() || i == 0 ? "," : "");
  dict += "), }";
  // The data begin at a multiple of 64, so that they can be mapped.
  const size_t prefix = kMagic.size() + 2 + (dict.size() > 65000 ? 4 : 2);
  dict.append(63 - (prefix + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header(kMagic);
  const size_t length_bytes = prefix - kMagic.size() - 2;
  header += length_bytes == 2 ? '\1' : '\2';
  header += '\0';
  for (size_t i = 0; i < length_bytes; ++i) header += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return header + dict;
}

}  // namespace shoal::internal
