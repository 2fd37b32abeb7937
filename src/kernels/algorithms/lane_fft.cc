#include "kernels/algorithms/lane_fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {

using Root = std::complex<float>;

struct LaneFourierTransform::Tables {
  std::vector<int64_t> radices;
  std::vector<Root> roots;  // exp(-2πi k / length)
  // Set for lengths computed as a convolution: exp(-πi k² / length), and the transform of its padded conjugate.
  std::vector<Root> chirp, spectrum;
};

namespace {

using Lanes = LaneFourierTransform::Lanes;
using Number = LaneFourierTransform::Number;
using Tables = LaneFourierTransform::Tables;

constexpr int64_t kMaxRadix = 31;

[[gnu::always_inline]] inline Number Plus(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
[[gnu::always_inline]] inline Number Minus(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
[[gnu::always_inline]] inline Number Times(const Number& a, Root b) {
  return {a.re * b.real() - a.im * b.imag(), a.re * b.imag() + a.im * b.real()};
}
// -i * a
[[gnu::always_inline]] inline Number TimesMinusI(const Number& a) { return {a.im, -a.re}; }

// Transforms of 2, 4 and 16 numbers, in place.
[[gnu::always_inline]] inline void Transform2(Number* t) {
  const Number sum = Plus(t[0], t[1]);
  t[1] = Minus(t[0], t[1]);
  t[0] = sum;
}
[[gnu::always_inline]] inline void Transform4(Number* t) {
  const Number even = Plus(t[0], t[2]), odd = Plus(t[1], t[3]), difference = Minus(t[0], t[2]), rotated = TimesMinusI(Minus(t[1], t[3]));
  t[0] = Plus(even, odd);
  t[1] = Plus(difference, rotated);
  t[2] = Minus(even, odd);
  t[3] = Minus(difference, rotated);
}
// Transforms sixteen numbers as four times four, which takes one pass through memory instead of two.
[[gnu::always_inline]] inline void Transform16(Number* t) {
  constexpr float kCos = 0.92387953251128674f, kSin = 0.38268343236508977f, kHalf = 0.70710678118654752f;
  static constexpr float kRoots[4][4][2] = {{{1, 0}, {1, 0}, {1, 0}, {1, 0}},
                                            {{1, 0}, {kCos, -kSin}, {kHalf, -kHalf}, {kSin, -kCos}},
                                            {{1, 0}, {kHalf, -kHalf}, {0, -1}, {-kHalf, -kHalf}},
                                            {{1, 0}, {kSin, -kCos}, {-kHalf, -kHalf}, {-kCos, kSin}}};
  Number grid[4][4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    Number column[4] = {t[c], t[c + 4], t[c + 8], t[c + 12]};
    Transform4(column);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) grid[r][c] = r * c == 0 ? column[r] : Times(column[r], Root(kRoots[c][r][0], kRoots[c][r][1]));
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    Transform4(grid[r]);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) t[r + 4 * k] = grid[r][k];
  }
}
// The transform of an odd number of elements, where elements k and radix - k share multiplications.
template <int64_t radix>
[[gnu::always_inline]] inline void TransformOdd(Number* t, const Root* roots, int64_t step) {
  constexpr int64_t kHalf = radix / 2;
  Number sums[kHalf], differences[kHalf];
#pragma GCC unroll 4
  for (int64_t k = 0; k < kHalf; ++k) {
    sums[k] = Plus(t[k + 1], t[radix - 1 - k]);
    differences[k] = Minus(t[k + 1], t[radix - 1 - k]);
  }
  Number first = t[0];
#pragma GCC unroll 4
  for (int64_t k = 0; k < kHalf; ++k) first = Plus(first, sums[k]);
#pragma GCC unroll 4
  for (int64_t j = 1; j <= kHalf; ++j) {
    Number even = t[0], odd{};
#pragma GCC unroll 4
    for (int64_t k = 0; k < kHalf; ++k) {
      const Root root = roots[j * (k + 1) % radix * step];
      even.re += sums[k].re * root.real();
      even.im += sums[k].im * root.real();
      odd.re -= differences[k].im * root.imag();
      odd.im += differences[k].re * root.imag();
    }
    t[j] = Plus(even, odd);
    t[radix - j] = Minus(even, odd);
    if (j == kHalf) t[0] = first;
  }
}

[[gnu::always_inline]] inline void TransformAny(Number* t, int64_t radix, const Root* roots, int64_t step) {
  Number sums[kMaxRadix];
  for (int64_t j = 0; j < radix; ++j) {
    sums[j] = t[0];
    for (int64_t k = 1; k < radix; ++k) sums[j] = Plus(sums[j], Times(t[k], roots[j * k % radix * step]));
  }
  for (int64_t j = 0; j < radix; ++j) t[j] = sums[j];
}

// One pass of Stockham's algorithm: `length` is the length of the remaining transforms, which are `stride` apart.
template <int64_t fixed_radix>
[[gnu::always_inline]] inline void Pass(int64_t any_radix, int64_t length, int64_t stride, int64_t total, const Root* roots,
                                        const Number* in, Number* out) {
  const int64_t radix = fixed_radix != 0 ? fixed_radix : any_radix, part = length / radix;
  for (int64_t p = 0; p < part; ++p) {
    for (int64_t q = 0; q < stride; ++q) {
      Number t[fixed_radix != 0 ? fixed_radix : kMaxRadix] = {};
#pragma GCC unroll 16
      for (int64_t k = 0; k < radix; ++k) t[k] = in[q + stride * (p + part * k)];
      if constexpr (fixed_radix == 2) Transform2(t);
      if constexpr (fixed_radix == 4) Transform4(t);
      if constexpr (fixed_radix == 16) Transform16(t);
      if constexpr (fixed_radix == 3 || fixed_radix == 5 || fixed_radix == 7) TransformOdd<fixed_radix>(t, roots, total / radix);
      if constexpr (fixed_radix == 0) TransformAny(t, radix, roots, total / radix);
      Number* to = out + q + stride * radix * p;
      to[0] = t[0];
#pragma GCC unroll 16
      for (int64_t j = 1; j < radix; ++j) to[stride * j] = p == 0 ? t[j] : Times(t[j], roots[p * j * stride]);
    }
  }
}

SHOAL_TARGET_CLONES void RunPass(int64_t radix, int64_t length, int64_t stride, int64_t total, const Root* roots,
                           const Number* in, Number* out) {
  if (radix == 16) return Pass<16>(16, length, stride, total, roots, in, out);
  if (radix == 4) return Pass<4>(4, length, stride, total, roots, in, out);
  if (radix == 2) return Pass<2>(2, length, stride, total, roots, in, out);
  if (radix == 3) return Pass<3>(3, length, stride, total, roots, in, out);
  if (radix == 5) return Pass<5>(5, length, stride, total, roots, in, out);
  if (radix == 7) return Pass<7>(7, length, stride, total, roots, in, out);
  Pass<0>(radix, length, stride, total, roots, in, out);
}

SHOAL_TARGET_CLONES void Multiply(const Number* in, const Root* factors, int64_t count, bool swaps, Number* out) {
  for (int64_t k = 0; k < count; ++k) {
    const Number product = Times(in[k], factors[k]);
    out[k] = swaps ? Number{product.im, product.re} : product;
  }
}

bool IsSmooth(int64_t length) {
  for (int64_t radix = 2; radix <= kMaxRadix; ++radix)
    while (length % radix == 0) length /= radix;
  return length == 1;
}

int64_t PaddedLength(int64_t length) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1))); }

Root UnitRoot(int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

std::shared_ptr<const Tables> NewTables(int64_t length) {
  auto tables = std::make_shared<Tables>();
  if (IsSmooth(length)) {
    int64_t rest = length;
    for (; rest % 16 == 0; rest /= 16) tables->radices.push_back(16);
    for (; rest % 4 == 0; rest /= 4) tables->radices.push_back(4);
    for (int64_t radix = 2; radix <= kMaxRadix; ++radix)
      for (; rest % radix == 0; rest /= radix) tables->radices.push_back(radix);
    for (int64_t k = 0; k < length; ++k) tables->roots.push_back(UnitRoot(k, length));
    return tables;
  }
  const int64_t padded = PaddedLength(length);
  LaneFourierTransform transform(padded);
  std::fill_n(transform.numbers(), padded, Number{});
  const auto scale = static_cast<float>(1 / static_cast<double>(padded));
  for (int64_t k = 0; k < length; ++k) {
    const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                                             static_cast<unsigned __int128>(2 * length));
    const Root root = UnitRoot(square, 2 * length);
    tables->chirp.push_back(root);
    for (int64_t at : {k, (padded - k) % padded}) {
      transform.numbers()[at].re = Lanes{} + root.real() * scale;
      transform.numbers()[at].im = Lanes{} - root.imag() * scale;
    }
  }
  transform.Run();
  for (int64_t k = 0; k < padded; ++k)
    tables->spectrum.emplace_back(transform.numbers()[k].re[0], transform.numbers()[k].im[0]);
  return tables;
}

// Computing the sines takes longer than the transforms that need them, so the tables of recent lengths are cached.
std::shared_ptr<const Tables> TablesFor(int64_t length) {
  static std::mutex mutex;
  static std::map<int64_t, std::shared_ptr<const Tables>> cache;
  {
    std::lock_guard lock(mutex);
    if (auto found = cache.find(length); found != cache.end()) return found->second;
  }
  auto tables = NewTables(length);
  std::lock_guard lock(mutex);
  constexpr size_t kMax = 32;
  if (cache.size() >= kMax) cache.clear();
  cache[length] = tables;
  return tables;
}

}  // namespace

namespace {

constexpr size_t kMaxSpares = 6, kMaxSpareSize = size_t{1} << 14;  // the size in LaneNumbers
thread_local std::vector<std::vector<LaneNumber>> spares;

}  // namespace

LaneNumbers::LaneNumbers(int64_t count) {
  if (!spares.empty()) {
    numbers_ = std::move(spares.back());
    spares.pop_back();
  }
  if (numbers_.size() < static_cast<size_t>(count)) numbers_.resize(static_cast<size_t>(count));
}

LaneNumbers::~LaneNumbers() {
  if (spares.size() < kMaxSpares && numbers_.size() <= kMaxSpareSize) spares.push_back(std::move(numbers_));
}

LaneFourierTransform::LaneFourierTransform(int64_t length)
    : length_(length), tables_(TablesFor(length)), numbers_(length + 2), scratch_(length + 2) {
  if (!tables_->chirp.empty()) padded_ = std::make_unique<LaneFourierTransform>(PaddedLength(length));
}

void LaneFourierTransform::Run() { padded_ != nullptr ? RunAsConvolution() : RunPasses(); }

void LaneFourierTransform::RunPasses() {
  int64_t length = length_, stride = 1;
  for (int64_t radix : tables_->radices) {
    RunPass(radix, length, stride, length_, tables_->roots.data(), numbers_.data(), scratch_.data());
    numbers_.swap(scratch_);
    length /= radix;
    stride *= radix;
  }
}

// Since jk = (j² + k² - (k - j)²) / 2: multiplies by a chirp before and after a convolution with another chirp.
void LaneFourierTransform::RunAsConvolution() {
  const int64_t padded = padded_->length();
  Multiply(numbers_.data(), tables_->chirp.data(), length_, false, padded_->numbers());
  std::fill(padded_->numbers() + length_, padded_->numbers() + padded, Number{});
  padded_->Run();
  // The inverse transform is the forward transform with real and imaginary parts swapped.
  Multiply(padded_->numbers(), tables_->spectrum.data(), padded, true, padded_->numbers());
  padded_->Run();
  for (int64_t k = 0; k < length_; ++k) {
    const Number& swapped = padded_->numbers()[k];
    numbers_[static_cast<size_t>(k)] = Times({swapped.im, swapped.re}, tables_->chirp[static_cast<size_t>(k)]);
  }
}

}  // namespace shoal::internal
