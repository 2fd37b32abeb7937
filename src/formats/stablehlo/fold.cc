#include "formats/stablehlo/fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/ir/literal.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

const std::byte* AddressOf(const MlirAttr& dense, int64_t i) {
  const int64_t bytes = StorageBytes(dense.type->element);
  return dense.data.data() + (dense.splat ? 0 : i * bytes);
}

void Store(const FoldedElement& value, ElementType type, std::byte* out) {
  const auto bytes = static_cast<size_t>(StorageBytes(type));
  uint64_t bits = static_cast<uint64_t>(value.whole);
  if (IsFloat(type)) bits = EncodeFloat(type, value.real);
  if (type == ElementType::kPred) bits = value.whole != 0 ? 1 : 0;
  const int width = BitWidth(type);
  if (IsInteger(type) && width < 8) {
    bits &= (uint64_t{1} << width) - 1;
    if (IsSigned(type) && (bits >> (width - 1)) != 0) bits |= ~((uint64_t{1} << width) - 1);
  }
  std::memcpy(out, &bits, std::min<size_t>(bytes, 8));
}

// Integers wrap at the width of their type.
int64_t Wrapped(int64_t value, ElementType type) {
  const int width = BitWidth(type);
  if (width >= 64) return value;
  const int shift = 64 - width;
  const uint64_t up = static_cast<uint64_t>(value) << shift;
  return IsSigned(type) ? static_cast<int64_t>(up) >> shift : static_cast<int64_t>(up >> shift);
}

// IEEE 754's maximum: NaN propagates, and -0 is less than 0.
double Greater(double x, double y) {
  if (x != x || y != y) return NAN;
  return x > y || (x == y && std::signbit(y)) ? x : y;
}

using FloatFold = double (*)(double x, double y);
struct FloatRow {
  Opcode opcode;
  FloatFold fold;
};
constexpr FloatRow kFloatFolds[] = {
    {Opcode::kAdd, [](double x, double y) { return x + y; }},
    {Opcode::kSubtract, [](double x, double y) { return x - y; }},
    {Opcode::kMultiply, [](double x, double y) { return x * y; }},
    {Opcode::kDivide, [](double x, double y) { return x / y; }},
    {Opcode::kRemainder, [](double x, double y) { return std::fmod(x, y); }},
    {Opcode::kMaximum, Greater},
    {Opcode::kMinimum, [](double x, double y) { return -Greater(-x, -y); }},
    {Opcode::kNegate, [](double x, double) { return -x; }},
    {Opcode::kAbs, [](double x, double) { return std::fabs(x); }},
    {Opcode::kSqrt, [](double x, double) { return std::sqrt(x); }},
    {Opcode::kRsqrt, [](double x, double) { return 1 / std::sqrt(x); }},
    {Opcode::kExp, [](double x, double) { return std::exp(x); }},
    {Opcode::kLog, [](double x, double) { return std::log(x); }},
    {Opcode::kSin, [](double x, double) { return std::sin(x); }},
    {Opcode::kCos, [](double x, double) { return std::cos(x); }},
    {Opcode::kTan, [](double x, double) { return std::tan(x); }},
    {Opcode::kTanh, [](double x, double) { return std::tanh(x); }},
    {Opcode::kLogistic, [](double x, double) { return 1 / (1 + std::exp(-x)); }},
    {Opcode::kSign, [](double x, double) { return x != x || x == 0 ? x : x > 0 ? 1.0 : -1.0; }},
};

std::optional<FoldedElement> FoldFloat(Opcode opcode, double x, double y) {
  for (const FloatRow& row : kFloatFolds)
    if (row.opcode == opcode) return FoldedElement{row.fold(x, y), 0};
  return std::nullopt;
}

using IntegerFold = uint64_t (*)(uint64_t a, uint64_t b, bool is_signed);
struct IntegerRow {
  Opcode opcode;
  IntegerFold fold;
};
constexpr int64_t Signed(uint64_t a) { return static_cast<int64_t>(a); }
constexpr IntegerRow kIntegerFolds[] = {
    {Opcode::kAdd, [](uint64_t a, uint64_t b, bool) { return a + b; }},
    {Opcode::kSubtract, [](uint64_t a, uint64_t b, bool) { return a - b; }},
    {Opcode::kMultiply, [](uint64_t a, uint64_t b, bool) { return a * b; }},
    {Opcode::kDivide, [](uint64_t a, uint64_t b, bool s) { return s ? uint64_t(Signed(a) / Signed(b)) : a / b; }},
    {Opcode::kRemainder, [](uint64_t a, uint64_t b, bool s) { return s ? uint64_t(Signed(a) % Signed(b)) : a % b; }},
    {Opcode::kMaximum,
     [](uint64_t a, uint64_t b, bool s) { return s ? uint64_t(std::max(Signed(a), Signed(b))) : std::max(a, b); }},
    {Opcode::kMinimum,
     [](uint64_t a, uint64_t b, bool s) { return s ? uint64_t(std::min(Signed(a), Signed(b))) : std::min(a, b); }},
    {Opcode::kAnd, [](uint64_t a, uint64_t b, bool) { return a & b; }},
    {Opcode::kOr, [](uint64_t a, uint64_t b, bool) { return a | b; }},
    {Opcode::kXor, [](uint64_t a, uint64_t b, bool) { return a ^ b; }},
    {Opcode::kNot, [](uint64_t a, uint64_t, bool) { return ~a; }},
    {Opcode::kNegate, [](uint64_t a, uint64_t, bool) { return uint64_t{0} - a; }},
    {Opcode::kAbs, [](uint64_t a, uint64_t, bool) { return Signed(a) < 0 ? uint64_t{0} - a : a; }},
    {Opcode::kSign, [](uint64_t a, uint64_t, bool s) { return a == 0 ? a : s && Signed(a) < 0 ? ~uint64_t{0} : 1; }},
};

std::optional<FoldedElement> FoldInteger(Opcode opcode, int64_t x, int64_t y, ElementType type) {
  const bool divides = opcode == Opcode::kDivide || opcode == Opcode::kRemainder;
  if (divides && (y == 0 || (IsSigned(type) && y == -1))) return std::nullopt;
  for (const IntegerRow& row : kIntegerFolds) {
    if (row.opcode != opcode) continue;
    // Sums of booleans are true if an operand is.
    if (type == ElementType::kPred && opcode == Opcode::kNot) return FoldedElement{0, x == 0 ? 1 : 0};
    const uint64_t value = row.fold(static_cast<uint64_t>(x), static_cast<uint64_t>(y), IsSigned(type));
    if (type == ElementType::kPred) return FoldedElement{0, value != 0 ? 1 : 0};
    return FoldedElement{0, Wrapped(Signed(value), type)};
  }
  return std::nullopt;
}

bool Compares(std::string_view direction, auto x, auto y) {
  if (direction == "EQ") return x == y;
  if (direction == "NE") return x != y;
  if (direction == "LT") return x < y;
  if (direction == "LE") return x <= y;
  if (direction == "GT") return x > y;
  return x >= y;
}

std::optional<FoldedElement> FoldConvert(const FoldedElement& x, ElementType from, ElementType to) {
  FoldedElement out = x;
  if (IsFloat(to)) {
    if (!IsFloat(from))
      out.real = IsUnsigned(from) ? static_cast<double>(static_cast<uint64_t>(x.whole)) : static_cast<double>(x.whole);
    return out;
  }
  if (!IsFloat(from)) {
    out.whole = to == ElementType::kPred ? (x.whole != 0 ? 1 : 0) : Wrapped(x.whole, to);
    return out;
  }
  if (to == ElementType::kPred) return FoldedElement{0, x.real != 0 ? 1 : 0};
  if (!(std::fabs(x.real) < 0x1p62)) return std::nullopt;
  out.whole = static_cast<int64_t>(x.real);
  if (Wrapped(out.whole, to) != out.whole) return std::nullopt;
  return out;
}

}  // namespace

int64_t ElementCount(const MlirType& type) { return SaturatingProduct(type.dims); }

FoldedElement ElementAt(const MlirAttr& dense, int64_t i) {
  const ElementType type = dense.type->element;
  uint64_t bits = 0;
  std::memcpy(&bits, AddressOf(dense, i), static_cast<size_t>(std::min(StorageBytes(type), 8)));
  if (IsFloat(type)) return {DecodeFloat(type, bits), 0};
  if (type == ElementType::kPred) return {0, static_cast<int64_t>(bits & 1)};
  return {0, Wrapped(static_cast<int64_t>(bits), type)};
}

const MlirAttr* FoldElementwise(Opcode opcode, std::span<const MlirAttr* const> operands, const MlirType& result,
                                std::string_view direction, Arena& arena) {
  if (operands.empty() || operands.size() > 3 || IsComplex(result.element)) return nullptr;
  bool splat = true;
  const int64_t total = ElementCount(result);
  for (const MlirAttr* operand : operands) {
    if (operand->elided || IsComplex(operand->type->element) || operand->type->element == ElementType::kInvalid)
      return nullptr;
    const int64_t size = ElementCount(*operand->type);
    const bool is_splat = operand->splat || size == 1;
    if (!is_splat && size != total) return nullptr;
    splat &= is_splat;
  }
  const int64_t count = splat ? 1 : total;
  if (count < 1 || count > kMaxFoldedElements) return nullptr;
  const int bytes = StorageBytes(result.element);
  if (bytes == 0) return nullptr;
  const ElementType from = operands.back()->type->element;
  const std::span<std::byte> data = arena.NewSpan<std::byte>(static_cast<size_t>(count * bytes));
  auto at = [&](size_t k, int64_t i) {
    const bool one = operands[k]->splat || ElementCount(*operands[k]->type) == 1;
    return ElementAt(*operands[k], one ? 0 : i);
  };
  for (int64_t i = 0; i < count; ++i) {
    std::optional<FoldedElement> value;
    if (opcode == Opcode::kSelect) {
      if (operands.size() != 3) return nullptr;
      value = at(0, i).whole != 0 ? at(1, i) : at(2, i);
    } else if (opcode == Opcode::kClamp) {
      if (operands.size() != 3) return nullptr;
      const FoldedElement low = at(0, i), x = at(1, i), high = at(2, i);
      if (IsFloat(from) && (low.real != low.real || high.real != high.real)) return nullptr;
      value = FoldedElement{std::min(std::max(x.real, low.real), high.real),
                            std::min(std::max(x.whole, low.whole), high.whole)};
      if (IsUnsigned(from) && BitWidth(from) == 64) return nullptr;
    } else if (opcode == Opcode::kCompare) {
      if (operands.size() != 2) return nullptr;
      const FoldedElement x = at(0, i), y = at(1, i);
      const bool holds = IsFloat(from)      ? Compares(direction, x.real, y.real)
                         : IsUnsigned(from) ? Compares(direction, static_cast<uint64_t>(x.whole), static_cast<uint64_t>(y.whole))
                                            : Compares(direction, x.whole, y.whole);
      value = FoldedElement{0, holds ? 1 : 0};
    } else if (opcode == Opcode::kConvert) {
      value = FoldConvert(at(0, i), from, result.element);
    } else {
      const FoldedElement x = at(0, i), y = operands.size() > 1 ? at(1, i) : FoldedElement();
      if (operands.size() > 2) return nullptr;
      value = IsFloat(from) ? FoldFloat(opcode, x.real, y.real) : FoldInteger(opcode, x.whole, y.whole, from);
    }
    if (!value) return nullptr;
    Store(*value, result.element, data.data() + i * bytes);
  }
  MlirAttr* attr = arena.New<MlirAttr>();
  attr->kind = MlirAttr::Kind::kDense;
  attr->type = &result;
  attr->data = data;
  attr->splat = count == 1 && total != 1;
  return attr;
}

const MlirAttr* Permuted(const MlirAttr& dense, const MlirType& result, std::span<const int64_t> sources, Arena& arena) {
  const int bytes = StorageBytes(result.element);
  const std::span<std::byte> data = arena.NewSpan<std::byte>(sources.size() * static_cast<size_t>(bytes));
  for (size_t i = 0; i < sources.size(); ++i)
    std::memcpy(data.data() + i * static_cast<size_t>(bytes), AddressOf(dense, sources[i]), static_cast<size_t>(bytes));
  MlirAttr* attr = arena.New<MlirAttr>();
  attr->kind = MlirAttr::Kind::kDense;
  attr->type = &result;
  attr->data = data;
  return attr;
}

const MlirAttr* WithType(const MlirAttr& dense, const MlirType& result, Arena& arena) {
  const int64_t count = ElementCount(result);
  const int64_t from = ElementCount(*dense.type);
  MlirAttr attr = dense;
  attr.type = &result;
  if (dense.splat || (from == 1 && count != 1)) {
    attr.splat = count != 1;
  } else if (from != count) {
    return nullptr;
  }
  if (count == 0) return nullptr;
  return arena.New<MlirAttr>(attr);
}

const MlirAttr* SplatOf(double value, const MlirType& result, Arena& arena) {
  if (IsComplex(result.element) || StorageBytes(result.element) == 0) return nullptr;
  const std::span<std::byte> data = arena.NewSpan<std::byte>(static_cast<size_t>(StorageBytes(result.element)));
  Store({value, static_cast<int64_t>(value)}, result.element, data.data());
  MlirAttr* attr = arena.New<MlirAttr>();
  attr->kind = MlirAttr::Kind::kDense;
  attr->type = &result;
  attr->data = data;
  attr->splat = ElementCount(result) != 1;
  return attr;
}

bool IsSplatOf(const MlirAttr& dense, double value) {
  if (dense.kind != MlirAttr::Kind::kDense || dense.elided || dense.data.empty() || dense.type == nullptr) return false;
  const ElementType type = dense.type->element;
  if (IsComplex(type)) return false;
  const int64_t count = dense.splat ? 1 : ElementCount(*dense.type);
  if (count > kMaxFoldedElements) return false;
  for (int64_t i = 0; i < count; ++i) {
    const FoldedElement element = ElementAt(dense, i);
    if (IsFloat(type) ? element.real != value : static_cast<double>(element.whole) != value) return false;
  }
  return true;
}

}  // namespace shoal::internal
