// Discrete Fourier transforms of f32, eight lines at a time: lane l of every vector belongs to line l.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::internal {

// A complex number for each of eight lines.
struct LaneNumber {
  typedef float Lanes __attribute__((vector_size(32), aligned(4)));  // may be at any address that is aligned for float
  Lanes re, im;
};

// At least `count` LaneNumbers. Their memory is cached for reuse in this thread, because touching fresh memory costs as
// much as a transform.
class LaneNumbers {
 public:
  explicit LaneNumbers(int64_t count);
  ~LaneNumbers();
  LaneNumbers(const LaneNumbers&) = delete;
  LaneNumbers& operator=(const LaneNumbers&) = delete;
  LaneNumber* data() { return numbers_.data(); }
  LaneNumber& operator[](size_t i) { return numbers_[i]; }
  void swap(LaneNumbers& other) { numbers_.swap(other.numbers_); }

 private:
  std::vector<LaneNumber> numbers_;
};

class LaneFourierTransform {
 public:
  static constexpr int64_t kLanes = 8;
  using Number = LaneNumber;
  using Lanes = LaneNumber::Lanes;
  struct Tables;  // data that depends only on the length

  explicit LaneFourierTransform(int64_t length);

  int64_t length() const { return length_; }
  // The data (number k holds element k of all lines) and a scratch array. Both have room for two more numbers.
  Number* numbers() { return numbers_.data(); }
  Number* scratch() { return scratch_.data(); }

  // Replaces numbers()[k] with Σ_j numbers()[j] exp(-2πi jk / length). Does not scale the result. For the opposite
  // sign, the caller must swap real and imaginary parts before and after.
  void Run();

 private:
  void RunPasses();
  void RunAsConvolution();

  int64_t length_;
  std::shared_ptr<const Tables> tables_;
  LaneNumbers numbers_, scratch_;
  std::unique_ptr<LaneFourierTransform> padded_;  // set for lengths with a large prime factor (convolution)
};

// Convert at most kLanes lines of `count` elements to numbers and back. Element k of line l is
// x[starts[l] + k * stride]. If `swapped`, real and imaginary parts are swapped.
struct LaneLines {
  const int64_t* starts;
  int64_t lines, stride;
};
void LoadLines(const std::complex<float>* x, const LaneLines& lines, int64_t count, bool swapped,
               LaneFourierTransform::Number* out);
void StoreLines(const LaneFourierTransform::Number* in, const LaneLines& lines, int64_t count, bool swapped, float scale,
                std::complex<float>* x);
// Convert real lines of contiguous elements; consecutive vectors are `step` vectors apart.
void LoadRealLines(const float* x, const int64_t* starts, int64_t lines, int64_t count, LaneFourierTransform::Lanes* out,
                   int64_t step);
void StoreRealLines(const LaneFourierTransform::Lanes* in, int64_t step, const int64_t* starts, int64_t lines,
                    int64_t count, float scale, float* x);

}  // namespace shoal::internal
