// Discrete Fourier transforms of any length, in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::internal {

class FourierTransform {
 public:
  explicit FourierTransform(int64_t length);

  int64_t length() const { return static_cast<int64_t>(roots_.size()); }
  // Replaces x[k] with Σ_j x[j] exp(-2πi jk / length); `inverse` flips the sign of the exponent. Does not scale.
  void Run(std::complex<double>* x, bool inverse);

 private:
  using Complex = std::complex<double>;
  struct Chirp;  // used for lengths with a large prime factor

  void Forward(Complex* x);
  void Recurse(const Complex* in, size_t stride, Complex* out, size_t n, size_t level);
  void Combine(Complex* out, size_t n, size_t radix) const;
  void RunChirp(Complex* x);

  std::vector<Complex> roots_;  // exp(-2πi k / length)
  std::vector<size_t> radices_;
  std::vector<Complex> workspace_;
  std::shared_ptr<Chirp> chirp_;
};

// Transforms dimension `axis` of the row-major box of complex numbers at `x`.
void TransformAxis(std::complex<double>* x, const std::vector<int64_t>& sizes, size_t axis, bool inverse);

}  // namespace shoal::internal
