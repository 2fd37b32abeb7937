// Discrete Fourier transforms of f32, eight lines at a time: lane l of every vector belongs to line l.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace shoal {

class LaneFourierTransform {
 public:
  static constexpr int64_t kLanes = 8;
  typedef float Lanes __attribute__((vector_size(4 * kLanes), aligned(4)));  // anywhere that floats lie
  struct Number {
    Lanes re, im;
  };

  // False for lengths with a large prime factor.
  static bool Handles(int64_t length);

  explicit LaneFourierTransform(int64_t length);

  // x[k] becomes Σ_j x[j] exp(-2πi jk / length), with the other sign where `inverse`, for lines whose element k lies at
  // x[starts[l] + k * stride]; at most kLanes of them. Nothing is scaled.
  void Run(std::complex<float>* x, const int64_t* starts, int64_t lines, int64_t stride, bool inverse);

 private:
  std::vector<int64_t> radices_;
  std::vector<std::complex<float>> roots_;  // exp(-2πi k / length)
  std::vector<Number> numbers_, scratch_;
};

}  // namespace shoal
