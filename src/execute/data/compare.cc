#include "execute/data/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/ir/literal.h"

namespace shoal::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The default relative bound, which depends on the precision of the narrower type.
double DefaultRelative(ElementType a, ElementType b) {
  auto of = [](ElementType type) {
    if (type == ElementType::kF64 || type == ElementType::kC128) return 1e-6;
    if (type == ElementType::kF32 || type == ElementType::kC64) return 1e-3;
    if (type == ElementType::kF16) return 1e-2;
    if (type == ElementType::kBf16) return 4e-2;
    return IsFloat(type) ? 0.13 : 0.0;
  };
  return std::max(of(a), of(b));
}

struct Pair {
  double distance = 0;
  double size = 0;  // magnitude of the reference element, from `a`
};

// Compares two elements. The distance of equal elements, and of two NaNs, is zero.
Pair Measure(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return {0, std::isfinite(a) ? std::abs(a) : 0.0};
  const double distance = std::abs(a - b);
  // NOLINTNEXTLINE(bugprone-narrowing-conversions): clang-tidy 14 assumes that infinity does not fit
  return {std::isfinite(distance) ? distance : kInfinity, std::isfinite(a) ? std::abs(a) : 0.0};
}

double ImaginaryAt(const Array& array, int64_t i) {
  if (array.type() == ElementType::kC64) return reinterpret_cast<const float*>(array.data())[2 * i + 1];
  if (array.type() == ElementType::kC128) return reinterpret_cast<const double*>(array.data())[2 * i + 1];
  return 0;
}

Pair MeasureAt(const Array& a, const Array& b, int64_t i) {
  if (!IsFloat(a.type()) && !IsFloat(b.type()) && !IsComplex(a.type()) && !IsComplex(b.type())) {
    const auto x = static_cast<__int128>(IntAt(a, i)), y = static_cast<__int128>(IntAt(b, i));
    return {std::abs(static_cast<double>(x - y)), std::abs(static_cast<double>(x))};
  }
  Pair pair = Measure(NumberAt(a, i), NumberAt(b, i));
  if (!IsComplex(a.type()) && !IsComplex(b.type())) return pair;
  const Pair imaginary = Measure(ImaginaryAt(a, i), ImaginaryAt(b, i));
  return {std::hypot(pair.distance, imaginary.distance), std::hypot(pair.size, imaginary.size)};
}

double LargestFinite(const Array& array) {
  double largest = 0;
  for (int64_t i = 0; i < array.count(); ++i) {
    const double size = std::hypot(NumberAt(array, i), ImaginaryAt(array, i));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  return largest;
}

}  // namespace

Difference CompareArrays(const Array& a, const Array& b, const ErrorBounds& bounds) {
  Difference difference;
  difference.elements = a.count();
  // A result has few elements beyond several times the expected error.
  constexpr double kRelativeFactor = 10, kAbsoluteFactor = 5;
  const bool is_float = DefaultRelative(a.type(), b.type()) > 0;
  const double expected = is_float ? bounds.expected_error : 0;
  difference.expected_error = expected;
  difference.rel_bound = bounds.rel.value_or(std::max(DefaultRelative(a.type(), b.type()), kRelativeFactor * expected));
  difference.abs_bound = bounds.abs.value_or(0);
  if (AreBitIdentical(a, b)) return difference;
  const double largest = LargestFinite(a);
  if (!bounds.abs)
    difference.abs_bound = std::max(DefaultRelative(a.type(), b.type()) * 0.01 * std::max(1.0, largest), kAbsoluteFactor * expected * largest);
  for (int64_t i = 0; i < a.count(); ++i) {
    const Pair pair = MeasureAt(a, b, i);
    if (pair.distance == 0) continue;
    const double relative = pair.size == 0 ? kInfinity : pair.distance / pair.size;
    const bool beyond = pair.distance > difference.abs_bound && relative > difference.rel_bound;
    if (difference.at < 0 || (beyond && difference.num_exceeding == 0) ||
        (difference.num_exceeding == 0 && pair.distance > difference.max_abs))
      difference.at = i;
    difference.num_exceeding += beyond ? 1 : 0;
    difference.max_abs = std::max(difference.max_abs, pair.distance);
    difference.max_rel = std::max(difference.max_rel, relative);
  }
  difference.error = largest > 0 ? difference.max_abs / largest : 0;
  return difference;
}

std::string IndexText(int64_t element, Ints dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; element /= dims[d]) index[d] = element % dims[d];
  return ToString(Ints(index));
}

std::string ElementText(const Array& array, int64_t element) {
  std::string text;
  AppendElement(text, array.type(), array.data() + element * array.element_bytes());
  return text;
}

bool AreBitIdentical(const Array& a, const Array& b) {
  if (a.type() != b.type() || !std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end()))
    return false;
  return a.data() == b.data() || a.bytes() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0;
}

}  // namespace shoal::internal
