#include "kernels/algorithms/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::internal {
namespace {

using Complex = std::complex<double>;

constexpr size_t kMaxRadix = 31;  // for larger radices a chirp transform is faster than a sum over all pairs

// The operator* of std::complex is slow because it handles infinities.
Complex Times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(-2πi k / n)
Complex Root(size_t k, size_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

Complex Swapped(Complex x) { return {x.imag(), x.real()}; }

}  // namespace

// Bluestein's algorithm: since jk = (j² + k² - (k - j)²) / 2, the transform is a convolution with exp(πi j² / n), which
// is computed by transforms whose length is a power of two.
struct FourierTransform::Chirp {
  explicit Chirp(size_t n);

  FourierTransform transform;
  std::vector<Complex> wave;      // exp(-πi j² / n)
  std::vector<Complex> spectrum;  // transform of the conjugate wave, mirrored at zero
  std::vector<Complex> padded;
};

FourierTransform::Chirp::Chirp(size_t n)
    : transform([n] {
        int64_t length = 1;
        while (length < static_cast<int64_t>(2 * n - 1)) length *= 2;
        return length;
      }()) {
  const auto length = static_cast<size_t>(transform.length());
  spectrum.resize(length);
  padded.resize(length);
  for (size_t j = 0; j < n; ++j) {
    wave.push_back(Root(j * j % (2 * n), 2 * n));
    spectrum[j] = std::conj(wave[j]);
    if (j != 0) spectrum[length - j] = std::conj(wave[j]);
  }
  transform.Run(spectrum.data(), false);
}

FourierTransform::FourierTransform(int64_t length) {
  const auto n = static_cast<size_t>(std::max<int64_t>(length, 0));
  size_t rest = std::max<size_t>(n, 1);
  for (size_t radix : {4, 2}) {
    for (; rest % radix == 0; rest /= radix) radices_.push_back(radix);
  }
  for (size_t radix = 3; radix <= kMaxRadix; radix += 2)
    for (; rest % radix == 0; rest /= radix) radices_.push_back(radix);
  roots_.resize(n);
  if (rest != 1) {
    chirp_ = std::make_shared<Chirp>(n);
    return;
  }
  for (size_t k = 0; k < n; ++k) roots_[k] = Root(k, n);
  workspace_.resize(n);
}

void FourierTransform::Run(Complex* x, bool inverse) {
  if (!inverse) return Forward(x);
  // Swapping real and imaginary parts before and after the transform inverts the sign of the exponent.
  std::transform(x, x + length(), x, Swapped);
  Forward(x);
  std::transform(x, x + length(), x, Swapped);
}

void FourierTransform::Forward(Complex* x) {
  if (chirp_ != nullptr) return RunChirp(x);
  std::copy(x, x + length(), workspace_.begin());
  Recurse(workspace_.data(), 1, x, workspace_.size(), 0);
}

// Cooley-Tukey algorithm: computes the transform of n elements from the transforms of every radix-th element.
void FourierTransform::Recurse(const Complex* in, size_t stride, Complex* out, size_t n, size_t level) {
  if (n <= 1) {
    if (n == 1) *out = *in;
    return;
  }
  const size_t radix = radices_[level];
  const size_t part = n / radix;
  for (size_t r = 0; r < radix; ++r) Recurse(in + r * stride, stride * radix, out + r * part, part, level + 1);
  Combine(out, n, radix);
}

void FourierTransform::Combine(Complex* out, size_t n, size_t radix) const {
  const size_t part = n / radix;
  const size_t root_count = roots_.size();
  const size_t step = root_count / n;  // distance of consecutive n-th roots of unity in roots_
  Complex t[kMaxRadix];
  for (size_t k = 0; k < part; ++k) {
    for (size_t r = 0; r < radix; ++r)
      t[r] = r == 0 || k == 0 ? out[r * part + k] : Times(out[r * part + k], roots_[r * k * step]);
    if (radix == 2) {
      out[k] = t[0] + t[1];
      out[part + k] = t[0] - t[1];
    } else if (radix == 4) {
      const Complex even = t[0] + t[2], odd = t[1] + t[3];
      const Complex difference = t[0] - t[2], rotated = {t[1].imag() - t[3].imag(), t[3].real() - t[1].real()};
      out[k] = even + odd;
      out[part + k] = difference + rotated;
      out[2 * part + k] = even - odd;
      out[3 * part + k] = difference - rotated;
    } else {
      for (size_t q = 0; q < radix; ++q) {
        Complex sum = t[0];
        for (size_t r = 1; r < radix; ++r) sum += Times(t[r], roots_[(q * r % radix) * (root_count / radix)]);
        out[q * part + k] = sum;
      }
    }
  }
}

void FourierTransform::RunChirp(Complex* x) {
  Chirp& chirp = *chirp_;
  const size_t n = chirp.wave.size();
  std::fill(chirp.padded.begin(), chirp.padded.end(), Complex());
  for (size_t j = 0; j < n; ++j) chirp.padded[j] = Times(x[j], chirp.wave[j]);
  chirp.transform.Run(chirp.padded.data(), false);
  for (size_t j = 0; j < chirp.padded.size(); ++j) chirp.padded[j] = Times(chirp.padded[j], chirp.spectrum[j]);
  chirp.transform.Run(chirp.padded.data(), true);
  const double scale = 1 / static_cast<double>(chirp.padded.size());
  for (size_t j = 0; j < n; ++j) x[j] = Times(chirp.padded[j] * scale, chirp.wave[j]);
}

void TransformAxis(Complex* x, const std::vector<int64_t>& sizes, size_t axis, bool inverse) {
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= sizes[d];
  for (size_t d = axis + 1; d < sizes.size(); ++d) inner *= sizes[d];
  const int64_t length = sizes[axis];
  FourierTransform transform(length);
  std::vector<Complex> line(static_cast<size_t>(length));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Complex* start = x + o * length * inner + i;
      for (int64_t k = 0; k < length; ++k) line[static_cast<size_t>(k)] = start[k * inner];
      transform.Run(line.data(), inverse);
      for (int64_t k = 0; k < length; ++k) start[k * inner] = line[static_cast<size_t>(k)];
    }
  }
}

}  // namespace shoal::internal
