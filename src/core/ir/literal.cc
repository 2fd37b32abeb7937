#include "core/ir/literal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

uint64_t LoadBits(const std::byte* element, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(bytes));
  return bits;
}

// Number of digits that distinguish any two numbers of the format.
int MaxDigits(const ElementTypeInfo& info) {
  return static_cast<int>(std::ceil(1 + (info.mantissa_bits + 1) * 0.30102999566398119521));
}

void AppendNumber(std::string& out, double value, int digits) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, digits).ptr;
  out.append(buffer, end);
}

// Writes the shorter of two precisions if it reads back exactly, as XLA does.
template <class T>
void AppendRoundTrip(std::string& out, T value) {
  char buffer[40];
  constexpr int kDigits = std::numeric_limits<T>::digits10;
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, kDigits).ptr;
  T back = 0;
  std::from_chars(buffer, end, back);
  if (back == value) {
    out.append(buffer, end);
  } else {
    AppendNumber(out, value, std::numeric_limits<T>::max_digits10);
  }
}

void AppendFloat(std::string& out, ElementType type, uint64_t bits) {
  const ElementTypeInfo& info = Info(type);
  double value = DecodeFloat(type, bits);
  if (std::isnan(value)) {
    bool negative = info.specials == FloatSpecials::kFnuz || (bits >> (info.bits - 1) & 1) != 0;
    if (info.specials == FloatSpecials::kFnu) negative = false;
    out += negative ? "-nan" : "nan";
    uint64_t payload = bits & ((uint64_t{1} << info.mantissa_bits) - 1);
    uint64_t quiet = info.mantissa_bits > 0 ? uint64_t{1} << (info.mantissa_bits - 1) : 0;
    if (info.specials == FloatSpecials::kIeee && payload != quiet) StrAppend(&out, "(0x", Hex(payload), ")");
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else if (type == ElementType::kF32) {
    AppendRoundTrip(out, std::bit_cast<float>(static_cast<uint32_t>(bits)));
  } else if (type == ElementType::kF64) {
    AppendRoundTrip(out, value);
  } else {
    AppendNumber(out, value, MaxDigits(info));
  }
}

// Writes an array on one line with the spaces that XLA writes; recurses over dimensions.
class ArrayWriter {
 public:
  ArrayWriter(std::string& out, const Literal& literal) : out_(out), shape_(*literal.shape), data_(literal.data) {}

  void Write(int64_t dim, int64_t index_in_outer) {
    const int64_t rank = shape_.rank();
    if (dim == rank) return WriteElement();
    const int64_t size = shape_.dim(dim);
    const bool innermost = dim == rank - 1;
    out_ += '{';
    if (!innermost && rank > 3 && dim > 0) {
      StrAppend(&out_, " /*i", dim - 1, "=", index_in_outer, "*/", size > 0 ? " " : "");
    } else if (rank > 1 && !(innermost && size <= 1)) {
      out_ += ' ';
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out_ += ", ";
      Write(dim + 1, i);
    }
    if (rank > 1 && !(innermost && size <= 1)) out_ += ' ';
    out_ += '}';
  }

 private:
  void WriteElement() {
    static constexpr std::byte kZero[16] = {};
    const auto width = static_cast<size_t>(StorageBytes(shape_.element_type()));
    const std::byte* element = data_.size() >= width ? data_.data() : kZero;
    if (shape_.element_type() == ElementType::kPred && shape_.rank() > 0) {
      out_ += *element != std::byte{0} ? '1' : '0';
    } else {
      AppendElement(out_, shape_.element_type(), element);
    }
    if (data_.size() >= width) data_ = data_.subspan(width);
  }

  std::string& out_;
  const Shape& shape_;
  std::span<const std::byte> data_;
};

}  // namespace

double DecodeFloat(ElementType type, uint64_t bits) {
  if (type == ElementType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == ElementType::kF64) return std::bit_cast<double>(bits);
  const ElementTypeInfo& info = Info(type);
  const int m = info.mantissa_bits;
  const uint64_t mantissa = bits & ((uint64_t{1} << m) - 1);
  const uint64_t top = (uint64_t{1} << info.exponent_bits) - 1;
  const auto exponent = static_cast<int64_t>(bits >> m & top);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (info.specials == FloatSpecials::kFnu)
    return exponent == 255 ? nan : std::ldexp(1.0, static_cast<int>(exponent) - info.exponent_bias);
  const bool negative = (bits >> (info.bits - 1) & 1) != 0;
  const bool all_ones = static_cast<uint64_t>(exponent) == top;
  if (info.specials == FloatSpecials::kIeee && all_ones) {
    if (mantissa != 0) return negative ? -nan : nan;
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  if (info.specials == FloatSpecials::kFn && all_ones && mantissa == (uint64_t{1} << m) - 1) return nan;
  if (info.specials == FloatSpecials::kFnuz && negative && exponent == 0 && mantissa == 0) return nan;
  double value = exponent == 0 ? std::ldexp(static_cast<double>(mantissa), 1 - info.exponent_bias - m)
                               : std::ldexp(static_cast<double>(mantissa + (uint64_t{1} << m)),
                                            static_cast<int>(exponent) - info.exponent_bias - m);
  return negative ? -value : value;
}

uint64_t EncodeFloat(ElementType type, double value) {
  if (type == ElementType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == ElementType::kF64) return std::bit_cast<uint64_t>(value);
  // XLA rounds twice when it converts to the 16-bit types.
  if (type == ElementType::kF16 || type == ElementType::kBf16) value = static_cast<float>(value);
  const ElementTypeInfo& info = Info(type);
  const int m = info.mantissa_bits;
  const FloatSpecials specials = info.specials;
  const bool fnu = specials == FloatSpecials::kFnu;
  const uint64_t sign = std::signbit(value) && !fnu ? uint64_t{1} << (info.bits - 1) : 0;
  const uint64_t top = (uint64_t{1} << info.exponent_bits) - 1;
  const uint64_t ones = (top << m) | ((uint64_t{1} << m) - 1);
  // The patterns of out-of-range values, of nan and of the largest number.
  uint64_t inf = 0, nan = 0, largest = ones;
  switch (specials) {
    case FloatSpecials::kIeee:
      inf = sign | top << m;
      nan = inf | uint64_t{1} << (m - 1);
      largest = (top << m) - 1;
      break;
    case FloatSpecials::kFn:
      inf = nan = sign | ones;
      largest = ones - 1;
      break;
    case FloatSpecials::kFnuz:
      inf = nan = uint64_t{1} << (info.bits - 1);
      break;
    case FloatSpecials::kFnu:
      inf = nan = 0xFF;
      largest = 0xFE;
      break;
    default:  // kFinite: clamps; nan becomes a zero of the other sign
      inf = sign | ones;
      nan = sign ^ (uint64_t{1} << (info.bits - 1));
      break;
  }
  if (std::isnan(value) || (fnu && (value <= 0))) return nan;
  if (std::isinf(value)) return inf;
  double magnitude = std::fabs(value);
  if (magnitude == 0) return specials == FloatSpecials::kFnuz ? 0 : sign;
  int exponent = std::ilogb(magnitude);
  const int smallest = fnu ? -info.exponent_bias : 1 - info.exponent_bias;
  if (exponent < smallest) exponent = smallest;
  // The value in units of the last place, rounded to even; a carry increments the exponent.
  double scaled = std::nearbyint(std::ldexp(magnitude, m - exponent));
  uint64_t bits = static_cast<uint64_t>(scaled) + (static_cast<uint64_t>(exponent - smallest) << m);
  if (fnu) bits = static_cast<uint64_t>(exponent - smallest) + (scaled >= 2 ? 1 : 0);
  if (bits > largest) return inf;
  if (bits == 0 && specials == FloatSpecials::kFnuz) return 0;
  return sign | bits;
}

void AppendElement(std::string& out, ElementType type, const std::byte* element) {
  const int bytes = StorageBytes(type);
  switch (Info(type).cls) {
    case TypeClass::kBool:
      out += *element != std::byte{0} ? "true" : "false";
      break;
    case TypeClass::kSigned: {
      auto raw = static_cast<int64_t>(LoadBits(element, bytes));
      const int unused = 64 - 8 * bytes;
      StrAppend(&out, static_cast<int64_t>(static_cast<uint64_t>(raw) << unused) >> unused);
      break;
    }
    case TypeClass::kUnsigned:
      StrAppend(&out, LoadBits(element, bytes));
      break;
    case TypeClass::kFloat:
      AppendFloat(out, type, LoadBits(element, bytes));
      break;
    case TypeClass::kComplex: {
      ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
      out += '(';
      AppendElement(out, part, element);
      out += ", ";
      AppendElement(out, part, element + bytes / 2);
      out += ')';
      break;
    }
    case TypeClass::kNonArray:
      SHOAL_CHECK(false, "element of a shape that is not an array");
  }
}

namespace {

// True if the implied part of a literal is too large to print: zeros that the text does not list, as in constant(1) of
// f16[1000000,1000000], or empty lists, as in f32[1000000000,0].
bool IsMostlyImplied(const Literal& literal) {
  if (!literal.shape->IsArray()) return false;
  constexpr int64_t kMaxImplied = int64_t{1} << 26;
  const int64_t count = literal.shape->ElementCount().value_or(kSizeOverflow);
  if (count == 0) {
    const Ints dims = literal.shape->dims();
    return SaturatingProduct(dims.first(static_cast<size_t>(std::ranges::find(dims, 0) - dims.begin()))) > kMaxImplied;
  }
  const int64_t stored = std::ssize(literal.data) / std::max<int64_t>(StorageBytes(literal.shape->element_type()), 1);
  return count - stored > kMaxImplied;
}

}  // namespace

void AppendLiteral(std::string& out, const Literal& literal, bool with_shape) {
  if (literal.shape->IsTuple()) {
    out += "( ";
    for (size_t i = 0; i < literal.elements.size(); ++i) {
      if (i > 0) out += ", ";
      AppendLiteral(out, *literal.elements[i], with_shape);
    }
    out += " )";
    return;
  }
  if (literal.shape->IsToken()) {
    out += "token";
    return;
  }
  if (with_shape) {
    AppendShape(out, *literal.shape);
    out += ' ';
  }
  if (literal.elided || IsMostlyImplied(literal)) {
    out += "{...}";
    return;
  }
  ArrayWriter(out, literal).Write(0, 0);
}

}  // namespace shoal::internal
