// Discrete Fourier transforms of f32, eight lines at a time: lane l of every vector belongs to line l.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::internal {

// Complex numbers of eight lines.
struct LaneNumber {
  typedef float Lanes __attribute__((vector_size(32), aligned(4)));  // anywhere that floats lie
  Lanes re, im;
};

// Room for `count` of them, which is kept for the next who wants some in this thread: memory that was never touched costs
// as much as a transform does.
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
  struct Tables;  // what depends on the length alone

  explicit LaneFourierTransform(int64_t length);

  int64_t length() const { return length_; }
  // What is transformed, one number per element of the lines. There is room for two numbers more, and as much again.
  Number* numbers() { return numbers_.data(); }
  Number* scratch() { return scratch_.data(); }

  // numbers()[k] becomes Σ_j numbers()[j] exp(-2πi jk / length). Nothing is scaled. The other sign is the same with real
  // and imaginary parts swapped before and after.
  void Run();

 private:
  void RunPasses();
  void RunAsConvolution();

  int64_t length_;
  std::shared_ptr<const Tables> tables_;
  LaneNumbers numbers_, scratch_;
  std::unique_ptr<LaneFourierTransform> padded_;  // lengths with a large prime factor, as a convolution
};

// Lines whose element k lies at x[starts[l] + k * stride], at most kLanes of them, to numbers and back, `count` elements;
// real and imaginary parts swapped where asked for.
struct LaneLines {
  const int64_t* starts;
  int64_t lines, stride;
};
void LoadLines(const std::complex<float>* x, const LaneLines& lines, int64_t count, bool swapped,
               LaneFourierTransform::Number* out);
void StoreLines(const LaneFourierTransform::Number* in, const LaneLines& lines, int64_t count, bool swapped, float scale,
                std::complex<float>* x);
// The same of real lines, one element after the other; to or from vectors that are `step` vectors apart.
void LoadRealLines(const float* x, const int64_t* starts, int64_t lines, int64_t count, LaneFourierTransform::Lanes* out,
                   int64_t step);
void StoreRealLines(const LaneFourierTransform::Lanes* in, int64_t step, const int64_t* starts, int64_t lines,
                    int64_t count, float scale, float* x);

}  // namespace shoal::internal
