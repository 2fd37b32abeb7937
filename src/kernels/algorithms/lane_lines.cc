// Converts lines in memory to vectors with one line per lane and back, by transposing 8 x 8 squares in registers.
#include "kernels/algorithms/lane_fft.h"
#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

using Lanes = LaneFourierTransform::Lanes;
using Number = LaneFourierTransform::Number;
constexpr int64_t kLanes = LaneFourierTransform::kLanes;

typedef float Floats __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
[[gnu::always_inline]] inline const Floats& LoadAt(const float* x) { return *reinterpret_cast<const Floats*>(x); }
[[gnu::always_inline]] inline void StoreAt(float* x, const Lanes& v) { *reinterpret_cast<Floats*>(x) = v; }

// Element j of row i becomes element i of row j.
[[gnu::always_inline]] inline void Transpose(Lanes* r) {
  Lanes t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Lanes s[8];
  for (int i = 0; i < 8; i += 4) {
    s[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    s[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    s[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    s[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(s[i], s[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(s[i], s[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// True if the lines start at consecutive elements, as along a dimension that is not the last.
bool AreAdjacent(const LaneLines& lines) {
  for (int64_t l = 1; l < lines.lines; ++l)
    if (lines.starts[l] != lines.starts[0] + l) return false;
  return lines.lines == kLanes;
}

[[gnu::always_inline]] inline Number Swapped(const Number& number, bool swapped) {
  return swapped ? Number{number.im, number.re} : number;
}

[[gnu::always_inline]] inline Number Scaled(const Number& number, bool swapped, float scale) {
  const Number plain = Swapped(number, swapped);
  return {plain.re * scale, plain.im * scale};
}

// Lanes without a line repeat the first line.
template <class T>
[[gnu::always_inline]] inline void LinePointers(T* x, const int64_t* starts, int64_t lines, int64_t factor, T** lane) {
  for (int64_t l = 0; l < kLanes; ++l) lane[l] = x + factor * starts[l < lines ? l : 0];
}

}  // namespace

SHOAL_TARGET_CLONES void LoadLines(const std::complex<float>* x, const LaneLines& lines, int64_t count, bool swapped, Number* out) {
  const auto* floats = reinterpret_cast<const float*>(x);
  if (AreAdjacent(lines)) {
    for (int64_t k = 0; k < count; ++k) {
      const float* at = floats + 2 * (lines.starts[0] + k * lines.stride);
      const Lanes a = LoadAt(at), b = LoadAt(at + kLanes);
      out[k] = Swapped({__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
                        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)}, swapped);
    }
    return;
  }
  const float* lane[kLanes];
  LinePointers(floats, lines.starts, lines.lines, 2, lane);
  int64_t k = 0;
  for (; lines.stride == 1 && k + 4 <= count; k += 4) {
    Lanes r[8];
    for (int64_t l = 0; l < 8; ++l) r[l] = LoadAt(lane[l] + 2 * k);
    Transpose(r);
    for (int64_t i = 0; i < 4; ++i) out[k + i] = Swapped({r[2 * i], r[2 * i + 1]}, swapped);
  }
  for (; k < count; ++k) {
    const int64_t at = 2 * k * lines.stride;
    const int64_t re = at + (swapped ? 1 : 0), im = at + (swapped ? 0 : 1);
    for (int64_t l = 0; l < kLanes; ++l) out[k].re[l] = lane[l][re], out[k].im[l] = lane[l][im];
  }
}

SHOAL_TARGET_CLONES void StoreLines(const Number* in, const LaneLines& lines, int64_t count, bool swapped, float scale,
                              std::complex<float>* x) {
  auto* floats = reinterpret_cast<float*>(x);
  if (AreAdjacent(lines)) {
    for (int64_t k = 0; k < count; ++k) {
      float* at = floats + 2 * (lines.starts[0] + k * lines.stride);
      const Number n = Scaled(in[k], swapped, scale);
      StoreAt(at, __builtin_shufflevector(n.re, n.im, 0, 8, 1, 9, 2, 10, 3, 11));
      StoreAt(at + kLanes, __builtin_shufflevector(n.re, n.im, 4, 12, 5, 13, 6, 14, 7, 15));
    }
    return;
  }
  // Writes whole cache lines, because lines whose distance is a power of two map to few sets of the cache.
  int64_t k = 0;
  for (; lines.stride == 1 && k + 8 <= count; k += 8) {
    Lanes r[16];
    for (int64_t i = 0; i < 8; ++i) {
      const Number n = Scaled(in[k + i], swapped, scale);
      r[2 * i] = n.re;
      r[2 * i + 1] = n.im;
    }
    Transpose(r);
    Transpose(r + 8);
    for (int64_t l = 0; l < lines.lines; ++l) {
      float* at = floats + 2 * (lines.starts[l] + k);
      StoreAt(at, r[l]);
      StoreAt(at + kLanes, r[8 + l]);
    }
  }
  for (; k < count; ++k) {
    const Number n = Scaled(in[k], swapped, scale);
    for (int64_t l = 0; l < lines.lines; ++l) x[lines.starts[l] + k * lines.stride] = {n.re[l], n.im[l]};
  }
}

SHOAL_TARGET_CLONES void LoadRealLines(const float* x, const int64_t* starts, int64_t lines, int64_t count, Lanes* out, int64_t step) {
  const float* lane[kLanes];
  LinePointers(x, starts, lines, 1, lane);
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    Lanes r[8];
    for (int64_t l = 0; l < 8; ++l) r[l] = LoadAt(lane[l] + k);
    Transpose(r);
    for (int64_t i = 0; i < 8; ++i) out[(k + i) * step] = r[i];
  }
  for (; k < count; ++k)
    for (int64_t l = 0; l < kLanes; ++l) out[k * step][l] = lane[l][k];
}

SHOAL_TARGET_CLONES void StoreRealLines(const Lanes* in, int64_t step, const int64_t* starts, int64_t lines, int64_t count,
                                  float scale, float* x) {
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    Lanes r[8];
    for (int64_t i = 0; i < 8; ++i) r[i] = in[(k + i) * step] * scale;
    Transpose(r);
    for (int64_t l = 0; l < lines; ++l) StoreAt(x + starts[l] + k, r[l]);
  }
  for (; k < count; ++k)
    for (int64_t l = 0; l < lines; ++l) x[starts[l] + k] = in[k * step][l] * scale;
}

}  // namespace shoal::internal
