// Numbers: the builder with which Apply in core/ops/elementwise.h computes values. Corner cases follow XLA: overflow,
// division by zero, shifts past the width, NaN and minus zero.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "core/ops/elementwise.h"
#include "kernels/arrays/min_max.h"

namespace shoal::internal {

template <class T>
concept IntegerNumber = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept FloatNumber = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <class T>
concept ComplexNumber = kIsComplex<T>;

struct Numbers {
  template <class T>
  T One(T) {
    return T(1);
  }

  // For pred, addition and maximum are `or`; multiplication and minimum are `and`.
  bool Add(bool x, bool y) { return x || y; }
  bool Multiply(bool x, bool y) { return x && y; }
  bool Maximum(bool x, bool y) { return x || y; }
  bool Minimum(bool x, bool y) { return x && y; }
  bool And(bool x, bool y) { return x && y; }
  bool Or(bool x, bool y) { return x || y; }
  bool Xor(bool x, bool y) { return x != y; }
  bool Not(bool x) { return !x; }

  // Integers wrap: the arithmetic is unsigned.
  template <IntegerNumber T>
  T Add(T x, T y) {
    return static_cast<T>(Bits(x) + Bits(y));
  }
  template <IntegerNumber T>
  T Subtract(T x, T y) {
    return static_cast<T>(Bits(x) - Bits(y));
  }
  template <IntegerNumber T>
  T Multiply(T x, T y) {
    return static_cast<T>(static_cast<uint64_t>(Bits(x)) * Bits(y));
  }
  // Division by zero sets all bits. The smallest number divided by -1 is itself.
  template <IntegerNumber T>
  T Divide(T x, T y) {
    if (y == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return Negate(x);
    return static_cast<T>(x / y);
  }
  // The remainder of a division by zero is x.
  template <IntegerNumber T>
  T Remainder(T x, T y) {
    if (y == 0) return x;
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return 0;
    return static_cast<T>(x % y);
  }
  template <IntegerNumber T>
  T Negate(T x) {
    return static_cast<T>(0u - Bits(x));
  }
  template <IntegerNumber T>
  T Abs(T x) {
    return x < 0 ? Negate(x) : x;
  }
  template <IntegerNumber T>
  T Sign(T x) {
    return static_cast<T>((x > 0) - (x < 0));
  }
  // A negative power is zero unless the base is 1 or -1.
  template <IntegerNumber T>
  T Power(T x, T y) {
    if (std::is_signed_v<T> && y < 0) {
      if (x == 1) return 1;
      return x == static_cast<T>(-1) ? ((y & 1) != 0 ? x : T(1)) : T(0);
    }
    T result = 1;
    for (auto exponent = Bits(y); exponent != 0; exponent = static_cast<decltype(exponent)>(exponent >> 1)) {
      if ((exponent & 1) != 0) result = Multiply(result, x);
      x = Multiply(x, x);
    }
    return result;
  }
  template <IntegerNumber T>
  T Mulhi(T x, T y) {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> (8 * sizeof(T)));
  }
  template <IntegerNumber T>
  T Maximum(T x, T y) {
    return x < y ? y : x;
  }
  template <IntegerNumber T>
  T Minimum(T x, T y) {
    return y < x ? y : x;
  }
  template <IntegerNumber T>
  T And(T x, T y) {
    return static_cast<T>(x & y);
  }
  template <IntegerNumber T>
  T Or(T x, T y) {
    return static_cast<T>(x | y);
  }
  template <IntegerNumber T>
  T Xor(T x, T y) {
    return static_cast<T>(x ^ y);
  }
  template <IntegerNumber T>
  T Not(T x) {
    return static_cast<T>(~x);
  }
  template <IntegerNumber T>
  T Clz(T x) {
    return static_cast<T>(std::countl_zero(Bits(x)));
  }
  template <IntegerNumber T>
  T PopulationCount(T x) {
    return static_cast<T>(std::popcount(Bits(x)));
  }
  // A shift past the width, or by a negative amount, yields only zeros or copies of the sign.
  template <IntegerNumber T>
  T ShiftLeft(T x, T y) {
    return IsPastWidth(y) ? T(0) : static_cast<T>(static_cast<uint64_t>(Bits(x)) << y);
  }
  template <IntegerNumber T>
  T ShiftRightLogical(T x, T y) {
    return IsPastWidth(y) ? T(0) : static_cast<T>(Bits(x) >> y);
  }
  template <IntegerNumber T>
  T ShiftRightArithmetic(T x, T y) {
    const auto as_signed = static_cast<std::make_signed_t<T>>(x);
    if (IsPastWidth(y)) return static_cast<T>(as_signed < 0 ? -1 : 0);
    return static_cast<T>(as_signed >> y);
  }

  // Floats.
  template <FloatNumber T>
  T Add(T x, T y) {
    return x + y;
  }
  template <FloatNumber T>
  T Subtract(T x, T y) {
    return x - y;
  }
  template <FloatNumber T>
  T Multiply(T x, T y) {
    return x * y;
  }
  template <FloatNumber T>
  T Divide(T x, T y) {
    return x / y;
  }
  // Has the sign of x, like C's fmod.
  template <FloatNumber T>
  T Remainder(T x, T y) {
    return std::fmod(x, y);
  }
  template <FloatNumber T>
  T Maximum(T x, T y) {
    return PropagatingMax(x, y);
  }
  template <FloatNumber T>
  T Minimum(T x, T y) {
    return PropagatingMin(x, y);
  }
  template <FloatNumber T>
  T Negate(T x) {
    return -x;
  }
  template <FloatNumber T>
  T Abs(T x) {
    return std::fabs(x);
  }
  // Zeros and NaN are returned unchanged.
  template <FloatNumber T>
  T Sign(T x) {
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;
  }
  template <FloatNumber T>
  bool IsFinite(T x) {
    return std::isfinite(x);
  }
  // clang-format off
  template <FloatNumber T> T Ceil(T x) { return std::ceil(x); }
  template <FloatNumber T> T Floor(T x) { return std::floor(x); }
  template <FloatNumber T> T RoundNearestAfz(T x) { return std::round(x); }
  template <FloatNumber T> T RoundNearestEven(T x) { return std::nearbyint(x); }
  template <FloatNumber T> T Power(T x, T y) { return std::pow(x, y); }
  template <FloatNumber T> T Atan2(T x, T y) { return std::atan2(x, y); }
  template <FloatNumber T> T Real(T x) { return x; }
  template <FloatNumber T> T Imag(T) { return 0; }
  template <FloatNumber T> std::complex<T> Complex(T x, T y) { return {x, y}; }
  template <FloatNumber T> T Acos(T x) { return std::acos(x); }
  template <FloatNumber T> T Acosh(T x) { return std::acosh(x); }
  template <FloatNumber T> T Asin(T x) { return std::asin(x); }
  template <FloatNumber T> T Asinh(T x) { return std::asinh(x); }
  template <FloatNumber T> T Atanh(T x) { return std::atanh(x); }
  template <FloatNumber T> T Cbrt(T x) { return std::cbrt(x); }
  template <FloatNumber T> T Cos(T x) { return std::cos(x); }
  template <FloatNumber T> T Cosh(T x) { return std::cosh(x); }
  template <FloatNumber T> T Erf(T x) { return std::erf(x); }
  template <FloatNumber T> T Exp(T x) { return std::exp(x); }
  template <FloatNumber T> T Expm1(T x) { return std::expm1(x); }
  template <FloatNumber T> T Log(T x) { return std::log(x); }
  template <FloatNumber T> T Log1p(T x) { return std::log1p(x); }
  template <FloatNumber T> T Rsqrt(T x) { return T(1) / std::sqrt(x); }
  template <FloatNumber T> T Sin(T x) { return std::sin(x); }
  template <FloatNumber T> T Sinh(T x) { return std::sinh(x); }
  template <FloatNumber T> T Sqrt(T x) { return std::sqrt(x); }
  template <FloatNumber T> T Tan(T x) { return std::tan(x); }
  template <FloatNumber T> T Tanh(T x) { return std::tanh(x); }

  // Complex numbers.
  template <ComplexNumber T> T Add(T x, T y) { return x + y; }
  template <ComplexNumber T> T Subtract(T x, T y) { return x - y; }
  template <ComplexNumber T> T Multiply(T x, T y) { return x * y; }
  template <ComplexNumber T> T Divide(T x, T y) { return x / y; }
  template <ComplexNumber T> T Negate(T x) { return -x; }
  template <ComplexNumber T> auto Abs(T x) { return std::abs(x); }
  template <ComplexNumber T> auto Real(T x) { return x.real(); }
  template <ComplexNumber T> auto Imag(T x) { return x.imag(); }
  template <ComplexNumber T> T Acos(T x) { return std::acos(x); }
  template <ComplexNumber T> T Acosh(T x) { return std::acosh(x); }
  template <ComplexNumber T> T Asin(T x) { return std::asin(x); }
  template <ComplexNumber T> T Asinh(T x) { return std::asinh(x); }
  template <ComplexNumber T> T Atanh(T x) { return std::atanh(x); }
  template <ComplexNumber T> T Cos(T x) { return std::cos(x); }
  template <ComplexNumber T> T Cosh(T x) { return std::cosh(x); }
  template <ComplexNumber T> T Exp(T x) { return std::exp(x); }
  template <ComplexNumber T> T Log(T x) { return std::log(x); }
  template <ComplexNumber T> T Rsqrt(T x) { return T(1) / std::sqrt(x); }
  template <ComplexNumber T> T Sin(T x) { return std::sin(x); }
  template <ComplexNumber T> T Sinh(T x) { return std::sinh(x); }
  template <ComplexNumber T> T Sqrt(T x) { return std::sqrt(x); }
  template <ComplexNumber T> T Tan(T x) { return std::tan(x); }
  template <ComplexNumber T> T Tanh(T x) { return std::tanh(x); }
  // clang-format on
  template <ComplexNumber T>
  T Sign(T x) {
    return x == T(0) ? T(0) : x / std::abs(x);
  }
  // 0 to the power 0 is 1; computed through log(0) it would be NaN.
  template <ComplexNumber T>
  T Power(T x, T y) {
    if (x == T(0)) return y == T(0) ? T(1) : T(0);
    return std::pow(x, y);
  }
  // -i log((y + i x) / sqrt(x² + y²)), where x is the first operand.
  template <ComplexNumber T>
  T Atan2(T x, T y) {
    const T i(0, 1);
    return -i * std::log((y + i * x) / std::sqrt(x * x + y * y));
  }
  // Avoid the cancellation in exp(x) - 1 and in log(1 + x).
  template <ComplexNumber T>
  T Expm1(T x) {
    const auto half = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
  }
  template <ComplexNumber T>
  T Log1p(T x) {
    const auto a = x.real(), b = x.imag();
    const auto real = std::abs(x) < 0.5 ? std::log1p(a * (2 + a) + b * b) / 2 : std::log(std::hypot(1 + a, b));
    return {real, std::atan2(b, 1 + a)};
  }

  template <class T>
  T Select(bool choose, T x, T y) {
    return choose ? x : y;
  }
  template <class T>
  bool Compare(ComparisonDirection direction, T x, T y) {
    switch (direction) {
      case ComparisonDirection::kEq:
        return x == y;
      case ComparisonDirection::kNe:
        return x != y;
      default:
        break;
    }
    if constexpr (!kIsComplex<T>) {
      switch (direction) {
        case ComparisonDirection::kGe:
          return x >= y;
        case ComparisonDirection::kGt:
          return x > y;
        case ComparisonDirection::kLe:
          return x <= y;
        default:
          return x < y;
      }
    }
    return false;
  }

 private:
  template <class T>
  static std::make_unsigned_t<T> Bits(T x) {
    return static_cast<std::make_unsigned_t<T>>(x);
  }
  template <class T>
  static bool IsPastWidth(T amount) {
    return Bits(amount) >= 8 * sizeof(T);
  }
};

}  // namespace shoal::internal
