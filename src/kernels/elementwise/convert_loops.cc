#include "kernels/elementwise/convert_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/arrays/floats.h"
#include "kernels/elementwise/kernel_loops.h"

namespace shoal::internal {
namespace {

// To pred: nonzero becomes true. Float to integer: rounds towards zero, clamped to the type's range; NaN becomes zero.
// Integer to narrower integer: keeps the low bits. Complex to real: keeps the real part.
template <class To, class From>
To ConvertElement(From x, double low, double high) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsComplex<To>) {
    using Part = typename To::value_type;
    if constexpr (kIsComplex<From>)
      return {static_cast<Part>(x.real()), static_cast<Part>(x.imag())};
    else
      return {static_cast<Part>(x), 0};
  } else if constexpr (kIsComplex<From>) {
    return ConvertElement<To>(x.real(), low, high);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(x)) return 0;
    // 2^63 - 1 is not a double: `high` is then 2^63, which no To can hold.
    if (x <= static_cast<From>(low)) return static_cast<To>(static_cast<int64_t>(low));
    if (x >= static_cast<From>(high)) return high >= 9.2e18 ? std::numeric_limits<To>::max() : static_cast<To>(high);
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void ConvertLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  const int bits = BitWidth(kernel.result);
  const bool is_signed = IsSigned(kernel.result);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  double high = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  if (bits < 64) high -= 1;
  auto* results = reinterpret_cast<Stored<To>*>(out);
  for (int64_t i = 0; i < n; ++i)
    results[i] = static_cast<Stored<To>>(ConvertElement<To>(Load<From>(in[0], i), low, high));
}

// Converts f64 to a narrow float; rounds once.
void NarrowDoublesLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  EncodeDoubles(kernel.result, reinterpret_cast<const double*>(in[0]), out, n);
}

void NarrowIntsToFloatsLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  constexpr int64_t kBlock = 256;
  double wide[kBlock];
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const std::byte* from = in[0] + start * StorageBytes(kernel.operands[0]);
    kernel.inner(kernel, reinterpret_cast<std::byte*>(wide), &from, count);
    EncodeDoubles(kernel.result, wide, out + start * StorageBytes(kernel.result), count);
  }
}

void WidenFirst(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  constexpr int64_t kBlock = 256;
  float wide[kBlock], result[kBlock];
  const auto* from = reinterpret_cast<const std::byte*>(wide);
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    DecodeFloats(kernel.operands[0], in[0] + start * StorageBytes(kernel.operands[0]), wide, count);
    std::byte* to = out + start * StorageBytes(kernel.result);
    if (!IsFloat(kernel.result) || BitWidth(kernel.result) > 32) {
      kernel.inner(kernel, to, &from, count);
      continue;
    }
    kernel.inner(kernel, reinterpret_cast<std::byte*>(result), &from, count);
    EncodeFloats(kernel.result, result, to, count);
  }
}

void WrapAfter(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  kernel.inner(kernel, out, in, n);
  WrapNarrowInts(kernel.result, out, n);
}

ElementLoop::Loop NativeConvertLoop(ElementType from, ElementType to) {
  return WithNativeType(from, [&]<class From>() -> ElementLoop::Loop {
    return WithNativeType(to, []<class To>() -> ElementLoop::Loop { return &ConvertLoop<From, To>; });
  });
}

// Rounds to fewer mantissa bits, ties to even, then reduces the exponent range: overflow becomes inf, underflow zero.
template <class T>
T ReducePrecision(T x, int exponent_bits, int mantissa_bits) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52, kExponent = sizeof(T) == 4 ? 8 : 11;
  if (std::isnan(x)) return mantissa_bits > 0 ? x : std::copysign(std::numeric_limits<T>::infinity(), x);
  auto bits = std::bit_cast<Bits>(x);
  if (mantissa_bits < kMantissa) {
    const int dropped = kMantissa - mantissa_bits;
    const Bits last = (bits >> dropped) & 1;
    bits += (Bits(1) << (dropped - 1)) - 1 + last;
    bits &= ~((Bits(1) << dropped) - 1);
  }
  if (exponent_bits >= kExponent) return std::bit_cast<T>(bits);
  const auto bias = static_cast<int>((1u << (kExponent - 1)) - 1), reduced = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>((bits >> kMantissa) & ((Bits(1) << kExponent) - 1));
  const Bits sign = bits & (Bits(1) << (sizeof(T) * 8 - 1));
  if (exponent > bias + reduced) return std::copysign(std::numeric_limits<T>::infinity(), x);
  if (exponent <= bias - reduced) return std::bit_cast<T>(sign);
  return std::bit_cast<T>(bits);
}

template <class T>
void ReducePrecisionLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  auto* results = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i)
    results[i] = ReducePrecision(Load<T>(in[0], i), kernel.exponent_bits, kernel.mantissa_bits);
}

// Rounds away from zero with the probability `fraction`, which is compared with the random bits of operand 1.
void StochasticConvertLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  const int bits = BitWidth(kernel.operands[1]);
  const ElementLoop to_double = ElementLoopForConvert(kernel.operands[0], ElementType::kF64);
  const ElementLoop to_result = ElementLoopForConvert(ElementType::kF64, kernel.result);
  for (int64_t i = 0; i < n; ++i) {
    double x = 0;
    const std::byte* from = in[0] + i * StorageBytes(kernel.operands[0]);
    to_double.Run(reinterpret_cast<std::byte*>(&x), &from, 1);
    uint64_t random = 0;
    std::copy_n(in[1] + i * StorageBytes(kernel.operands[1]), StorageBytes(kernel.operands[1]),
                reinterpret_cast<std::byte*>(&random));
    const double truncated = std::trunc(x), fraction = std::fabs(x - truncated);
    const double rounded = std::isfinite(x) && std::ldexp(static_cast<double>(random), -bits) < fraction
                               ? truncated + std::copysign(1, x)
                               : truncated;
    const auto* result = reinterpret_cast<const std::byte*>(&rounded);
    to_result.Run(out + i * StorageBytes(kernel.result), &result, 1);
  }
}

}  // namespace

void WrapNarrowInts(ElementType type, std::byte* data, int64_t n) {
  const int bits = BitWidth(type);
  if (bits >= 8) return;
  auto* bytes = reinterpret_cast<uint8_t*>(data);
  const auto mask = static_cast<uint8_t>((1 << bits) - 1), sign = static_cast<uint8_t>(1 << (bits - 1));
  for (int64_t i = 0; i < n; ++i) {
    bytes[i] &= mask;
    if (IsSigned(type) && (bytes[i] & sign) != 0) bytes[i] |= static_cast<uint8_t>(~mask);
  }
}

ElementLoop ElementLoopForConvert(ElementType from, ElementType to) {
  ElementLoop kernel{.result = to, .operands = {from}, .operand_count = 1};
  if (IsNarrowFloat(from)) {
    kernel.inner = NativeConvertLoop(from, to);
    kernel.loop = &WidenFirst;
    if (to == ElementType::kF32) {
      kernel.loop = [](const ElementLoop& k, std::byte* out, const std::byte* const* in, int64_t n) {
        DecodeFloats(k.operands[0], in[0], reinterpret_cast<float*>(out), n);
      };
    }
  } else if (IsNarrowFloat(to)) {
    kernel.inner = NativeConvertLoop(from, ElementType::kF64);
    kernel.loop = from == ElementType::kF64 ? &NarrowDoublesLoop : &NarrowIntsToFloatsLoop;
    if (from == ElementType::kF32) {
      kernel.loop = [](const ElementLoop& k, std::byte* out, const std::byte* const* in, int64_t n) {
        EncodeFloats(k.result, reinterpret_cast<const float*>(in[0]), out, n);
      };
    }
  } else {
    kernel.inner = NativeConvertLoop(from, to);
    kernel.loop = IsInteger(to) && BitWidth(to) < 8 ? &WrapAfter : kernel.inner;
  }
  return kernel;
}

ElementLoop ElementLoopForReducePrecision(const Instruction& hlo) {
  using Reduce = Op<Opcode::kReducePrecision>;
  const ElementType type = hlo.shape().element_type();
  ElementLoop kernel{.result = type, .operands = {type}, .operand_count = 1};
  kernel.exponent_bits = static_cast<int8_t>(std::clamp<int64_t>(hlo[Reduce::kExponentBits], 1, 11));
  kernel.mantissa_bits = static_cast<int8_t>(std::clamp<int64_t>(hlo[Reduce::kMantissaBits], 0, 52));
  kernel.inner = type == ElementType::kF64 ? &ReducePrecisionLoop<double> : &ReducePrecisionLoop<float>;
  kernel.loop = IsNarrowFloat(type) ? &WidenFirst : kernel.inner;
  return kernel;
}

ElementLoop ElementLoopForStochasticConvert(const Instruction& hlo) {
  return {.loop = &StochasticConvertLoop,
          .result = hlo.shape().element_type(),
          .operands = {hlo.operand_shape(0).element_type(), hlo.operand_shape(1).element_type()},
          .operand_count = 2};
}

}  // namespace shoal::internal
