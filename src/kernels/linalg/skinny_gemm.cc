#include "kernels/linalg/skinny_gemm.h"

#include <algorithm>
#include <bit>

#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

// An element of b as f32; a bf16 is the upper half of an f32.
inline float AsFloat(float value) { return value; }
inline float AsFloat(Bf16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

// c[i, j] += Σ a[i, p] b[p, j] for columns [begin, end) and p < k: each element of b is loaded once for all rows.
template <int rows, class T>
[[gnu::always_inline]] inline void AddRows(int64_t begin, int64_t end, int64_t k, MatrixView<float> a, const T* b,
                                           int64_t b_row, float* c, int64_t c_row) {
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    float f[rows][4];
    for (int i = 0; i < rows; ++i)
      for (int64_t q = 0; q < 4; ++q) f[i][q] = a.data[i * a.row + (p + q) * a.column];
    const T *r0 = b + p * b_row, *r1 = r0 + b_row, *r2 = r1 + b_row, *r3 = r2 + b_row;
#pragma GCC ivdep
    for (int64_t j = begin; j < end; ++j) {
      const float x0 = AsFloat(r0[j]), x1 = AsFloat(r1[j]), x2 = AsFloat(r2[j]), x3 = AsFloat(r3[j]);
      for (int i = 0; i < rows; ++i) c[i * c_row + j] += (f[i][0] * x0 + f[i][1] * x1) + (f[i][2] * x2 + f[i][3] * x3);
    }
  }
  for (; p < k; ++p) {
    for (int i = 0; i < rows; ++i) {
      const float factor = a.data[i * a.row + p * a.column];
      const T* row = b + p * b_row;
      for (int64_t j = begin; j < end; ++j) c[i * c_row + j] += factor * AsFloat(row[j]);
    }
  }
}

// AddRows for up to kMaxSkinnyRows rows.
template <class T>
[[gnu::always_inline]] inline void AddFewRows(int64_t rows, int64_t begin, int64_t end, int64_t k, MatrixView<float> a, const T* b,
                                              int64_t b_row, float* c, int64_t c_row) {
  if (rows == 1) return AddRows<1>(begin, end, k, a, b, b_row, c, c_row);
  if (rows == 2) return AddRows<2>(begin, end, k, a, b, b_row, c, c_row);
  if (rows == 3) return AddRows<3>(begin, end, k, a, b, b_row, c, c_row);
  AddRows<4>(begin, end, k, a, b, b_row, c, c_row);
}

// The sum of 2 * width lanes: adds the second half of the lanes to the first at each step, with constant widths.
template <int64_t width>
[[gnu::always_inline]] inline float SumOfLanes(float* sums) {
  for (int64_t s = 0; s < width; ++s) sums[s] += sums[s + width];
  if constexpr (width > 1) return SumOfLanes<width / 2>(sums);
  return sums[0];
}

// c[j] = Σ a[p] b[j, p], where a and the rows of b are contiguous, in lanes that are summed at the end.
template <class T>
[[gnu::always_inline]] inline void DotRows(int64_t rows, int64_t k, const float* a, const T* b, int64_t b_row,
                                                  float* c) {
  constexpr int64_t kLanes = 32;
  for (int64_t j = 0; j < rows; ++j, b += b_row) {
    float sums[kLanes] = {};
    int64_t p = 0;
    for (; p + kLanes <= k; p += kLanes)
      for (int64_t s = 0; s < kLanes; ++s) sums[s] += a[p + s] * AsFloat(b[p + s]);
    for (int64_t s = 0; p + s < k; ++s) sums[s] += a[p + s] * AsFloat(b[p + s]);
    c[j] = SumOfLanes<kLanes / 2>(sums);
  }
}

// One function for each type: templates cannot have target clones.
SHOAL_TARGET_CLONES void RowsTimesRows(int64_t rows, int64_t begin, int64_t end, int64_t k, MatrixView<float> a, const float* b,
                                 int64_t b_row, float* c, int64_t c_row) {
  AddFewRows(rows, begin, end, k, a, b, b_row, c, c_row);
}
SHOAL_TARGET_CLONES void RowsTimesRows(int64_t rows, int64_t begin, int64_t end, int64_t k, MatrixView<float> a, const Bf16* b,
                                 int64_t b_row, float* c, int64_t c_row) {
  AddFewRows(rows, begin, end, k, a, b, b_row, c, c_row);
}
SHOAL_TARGET_CLONES void RowsTimesVector(int64_t rows, int64_t k, const float* a, const float* b, int64_t b_row, float* c) {
  DotRows(rows, k, a, b, b_row, c);
}
SHOAL_TARGET_CLONES void RowsTimesVector(int64_t rows, int64_t k, const float* a, const Bf16* b, int64_t b_row, float* c) {
  DotRows(rows, k, a, b, b_row, c);
}

// Reading b takes most of the time, so every element of b is read once, in blocks that stay in the cache for all rows.
// Returns false if the layouts do not allow that.
template <class T>
bool Skinny(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<T> b, float* c, ThreadPool& pool) {
  constexpr int64_t kColumns = 1024, kRows = 32, kBlockElements = 1 << 12;
  static_assert(kMaxSkinnyRows == 4);
  if (b.column == 1) {
    ForBlocks(pool, n, kColumns, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < m; ++i) std::fill(c + i * n + begin, c + i * n + end, 0.0f);
      for (int64_t p = 0; p < k; p += kRows)
        RowsTimesRows(m, begin, end, std::min(kRows, k - p), {a.data + p * a.column, a.row, a.column}, b.data + p * b.row, b.row, c, n);
    });
    return true;
  }
  if (b.row != 1 || a.column != 1) return false;
  ForBlocks(pool, n, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(k, 1)), [&](int64_t begin, int64_t end) {
    const int64_t step = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(k, 1));
    for (int64_t j = begin; j < end; j += step)
      for (int64_t i = 0; i < m; ++i)
        RowsTimesVector(std::min(step, end - j), k, a.data + i * a.row, b.data + j * b.column, b.column, c + i * n + j);
  });
  return true;
}

}  // namespace

bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, ThreadPool& pool) {
  return Skinny(m, n, k, a, b, c, pool);
}

bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<Bf16> b, float* c, ThreadPool& pool) {
  return Skinny(m, n, k, a, b, c, pool);
}

}  // namespace shoal::internal
