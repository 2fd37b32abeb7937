#include "kernels/lane_fft.h"

#include <cmath>
#include <numbers>

#include "kernels/vector_clones.h"

namespace shoal {
namespace {

using Lanes = LaneFourierTransform::Lanes;
using Number = LaneFourierTransform::Number;
using Root = std::complex<float>;

constexpr int64_t kLargestRadix = 31;

[[gnu::always_inline]] inline Number Plus(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
[[gnu::always_inline]] inline Number Minus(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
[[gnu::always_inline]] inline Number Times(const Number& a, Root b) {
  return {a.re * b.real() - a.im * b.imag(), a.re * b.imag() + a.im * b.real()};
}
// -i a
[[gnu::always_inline]] inline Number Turned(const Number& a) { return {a.im, -a.re}; }

// The transform of a few numbers.
[[gnu::always_inline]] inline void Transform2(Number* t) {
  const Number sum = Plus(t[0], t[1]);
  t[1] = Minus(t[0], t[1]);
  t[0] = sum;
}
[[gnu::always_inline]] inline void Transform4(Number* t) {
  const Number even = Plus(t[0], t[2]), odd = Plus(t[1], t[3]), difference = Minus(t[0], t[2]), turned = Turned(Minus(t[1], t[3]));
  t[0] = Plus(even, odd);
  t[1] = Plus(difference, turned);
  t[2] = Minus(even, odd);
  t[3] = Minus(difference, turned);
}
[[gnu::always_inline]] inline void TransformAny(Number* t, int64_t radix, const Root* roots, int64_t step) {
  Number sums[kLargestRadix];
  for (int64_t j = 0; j < radix; ++j) {
    sums[j] = t[0];
    for (int64_t k = 1; k < radix; ++k) sums[j] = Plus(sums[j], Times(t[k], roots[j * k % radix * step]));
  }
  for (int64_t j = 0; j < radix; ++j) t[j] = sums[j];
}

// One pass of Stockham's algorithm: `length` is that of the transforms still to be done, which lie `stride` apart.
template <int64_t fixed>
[[gnu::always_inline]] inline void Pass(int64_t any_radix, int64_t length, int64_t stride, int64_t all, const Root* roots,
                                        const Number* in, Number* out) {
  const int64_t radix = fixed != 0 ? fixed : any_radix, part = length / radix;
  for (int64_t p = 0; p < part; ++p) {
    for (int64_t q = 0; q < stride; ++q) {
      Number t[fixed != 0 ? fixed : kLargestRadix];
      for (int64_t k = 0; k < radix; ++k) t[k] = in[q + stride * (p + part * k)];
      if constexpr (fixed == 2) Transform2(t);
      if constexpr (fixed == 4) Transform4(t);
      if constexpr (fixed == 0) TransformAny(t, radix, roots, all / radix);
      Number* to = out + q + stride * radix * p;
      to[0] = t[0];
      for (int64_t j = 1; j < radix; ++j) to[stride * j] = p == 0 ? t[j] : Times(t[j], roots[p * j * stride]);
    }
  }
}

SHOAL_VECTORS void RunPass(int64_t radix, int64_t length, int64_t stride, int64_t all, const Root* roots,
                           const Number* in, Number* out) {
  if (radix == 4) return Pass<4>(4, length, stride, all, roots, in, out);
  if (radix == 2) return Pass<2>(2, length, stride, all, roots, in, out);
  Pass<0>(radix, length, stride, all, roots, in, out);
}

}  // namespace

bool LaneFourierTransform::Handles(int64_t length) {
  if (length <= 0) return false;
  for (int64_t radix = 2; radix <= kLargestRadix; ++radix)
    while (length % radix == 0) length /= radix;
  return length == 1;
}

LaneFourierTransform::LaneFourierTransform(int64_t length) {
  int64_t rest = length;
  for (; rest % 4 == 0; rest /= 4) radices_.push_back(4);
  for (int64_t radix = 2; radix <= kLargestRadix; ++radix)
    for (; rest % radix == 0; rest /= radix) radices_.push_back(radix);
  for (int64_t k = 0; k < length; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    roots_.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  }
  numbers_.resize(static_cast<size_t>(length));
  scratch_.resize(static_cast<size_t>(length));
}

void LaneFourierTransform::Run(std::complex<float>* x, const int64_t* starts, int64_t lines, int64_t stride, bool inverse) {
  const auto all = static_cast<int64_t>(roots_.size());
  // The other sign is the same transform with real and imaginary parts swapped before and after.
  const auto* floats = reinterpret_cast<const float*>(x);
  const float* lane[kLanes];  // lanes without a line repeat the first
  for (int64_t l = 0; l < kLanes; ++l) lane[l] = floats + 2 * starts[l < lines ? l : 0];
  const int first = inverse ? 1 : 0, second = 1 - first;
  for (int64_t k = 0; k < all; ++k) {
    const int64_t at = 2 * k * stride;
    numbers_[static_cast<size_t>(k)] = {
        Lanes{lane[0][at + first], lane[1][at + first], lane[2][at + first], lane[3][at + first], lane[4][at + first],
              lane[5][at + first], lane[6][at + first], lane[7][at + first]},
        Lanes{lane[0][at + second], lane[1][at + second], lane[2][at + second], lane[3][at + second],
              lane[4][at + second], lane[5][at + second], lane[6][at + second], lane[7][at + second]}};
  }
  int64_t length = all, apart = 1;
  for (int64_t radix : radices_) {
    RunPass(radix, length, apart, all, roots_.data(), numbers_.data(), scratch_.data());
    numbers_.swap(scratch_);
    length /= radix;
    apart *= radix;
  }
  for (int64_t k = 0; k < all; ++k) {
    const Number& number = numbers_[static_cast<size_t>(k)];
    for (int64_t l = 0; l < lines; ++l)
      x[starts[l] + k * stride] = inverse ? std::complex<float>(number.im[l], number.re[l]) : std::complex<float>(number.re[l], number.im[l]);
  }
}

}  // namespace shoal
