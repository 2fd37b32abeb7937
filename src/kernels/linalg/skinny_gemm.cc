#include "kernels/linalg/skinny_gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

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

constexpr int64_t kLanes = 16;
typedef float FloatLanes __attribute__((vector_size(4 * kLanes)));
typedef int32_t IntLanes __attribute__((vector_size(4 * kLanes)));
typedef uint32_t BitLanes __attribute__((vector_size(4 * kLanes)));
typedef uint16_t HalfLanes __attribute__((vector_size(2 * kLanes)));

[[gnu::always_inline]] inline void LoadLanes(const float* from, FloatLanes& to) { std::memcpy(&to, from, sizeof(to)); }
[[gnu::always_inline]] inline void LoadLanes(const Bf16* from, FloatLanes& to) {
  HalfLanes bits;
  std::memcpy(&bits, from, sizeof(bits));
  const BitLanes wide = __builtin_convertvector(bits, BitLanes) << 16;
  std::memcpy(&to, &wide, sizeof(to));
}

// c[j] = Σ a[p] b[j, p] for j < rows, where a and the rows of b are contiguous, in lanes that are summed at the end.
template <int rows, class T>
[[gnu::always_inline]] inline void DotFewRows(int64_t k, const float* a, const T* b, int64_t b_row, float* c) {
  FloatLanes sums[rows] = {}, x, y;
  const int64_t whole = k / kLanes * kLanes;
  for (int64_t p = 0; p < whole; p += kLanes) {
    LoadLanes(a + p, x);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      LoadLanes(b + r * b_row + p, y);
      sums[r] += x * y;
    }
  }
  // The last lanes: reads whole vectors that end with the rows, and ignores the lanes that were added before.
  if (k != whole && k >= kLanes) {
    IntLanes is_new = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    is_new = is_new >= static_cast<int32_t>(kLanes - (k - whole));
    LoadLanes(a + k - kLanes, x);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      LoadLanes(b + r * b_row + k - kLanes, y);
      sums[r] += is_new ? x * y : FloatLanes{};
    }
  } else {
    for (int64_t p = whole; p < k; ++p)
      for (int r = 0; r < rows; ++r) sums[r][p - whole] += a[p] * AsFloat(b[r * b_row + p]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    float lanes[kLanes];
    std::memcpy(lanes, &sums[r], sizeof(lanes));
    c[r] = SumOfLanes<kLanes / 2>(lanes);
  }
}

// The same for any number of rows: four at a time share the loads of a. The order of a sum does not depend on that.
template <class T>
[[gnu::always_inline]] inline void DotRows(int64_t rows, int64_t k, const float* a, const T* b, int64_t b_row, float* c) {
  int64_t j = 0;
  for (; j + 4 <= rows; j += 4) DotFewRows<4>(k, a, b + j * b_row, b_row, c + j);
  for (; j < rows; ++j) DotFewRows<1>(k, a, b + j * b_row, b_row, c + j);
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

// The number of parts into which the sums of a product with `blocks` blocks of columns are divided, so that there are
// enough tasks. It depends only on the sizes.
int64_t PartsOf(int64_t n, int64_t k, int64_t blocks, int64_t min_depth) {
  constexpr int64_t kTask = int64_t{1} << 17, kEnough = 32;  // elements of b; tasks
  const int64_t tasks = std::min(n * k / kTask, kEnough);
  return std::max<int64_t>(1, std::min(tasks / blocks, k / min_depth));
}

// Calls task(begin, end, first, last, c) for blocks of columns [begin, end) and for parts [first, last) of the sums. Each
// part has a c of its own; their sum is the result.
template <class Task>
void ForParts(int64_t m, int64_t n, int64_t k, int64_t columns, int64_t parts, float* c, ThreadPool& pool, const Task& task) {
  const int64_t blocks = (n + columns - 1) / columns;
  std::unique_ptr<float[]> sums;
  if (parts > 1) sums = std::make_unique_for_overwrite<float[]>(static_cast<size_t>((parts - 1) * m * n));
  pool.Run(blocks * parts, [&](int64_t i) {
    const int64_t part = i / blocks, begin = i % blocks * columns;
    task(begin, std::min(n, begin + columns), k * part / parts, k * (part + 1) / parts, part == 0 ? c : sums.get() + (part - 1) * m * n);
  });
  for (int64_t part = 0; part + 1 < parts; ++part)
    for (int64_t i = 0; i < m * n; ++i) c[i] += sums[static_cast<size_t>(part * m * n + i)];
}

// Reading b takes most of the time, so every element of b is read once, in blocks that stay in the cache for all rows.
// Returns false if the layouts do not allow that.
template <class T>
bool Skinny(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<T> b, float* c, ThreadPool& pool) {
  constexpr int64_t kColumns = 1024, kRows = 32, kBlockElements = 1 << 12, kLongSum = 1 << 13;
  static_assert(kMaxSkinnyRows == 4);
  if (b.column == 1) {
    const int64_t parts = PartsOf(n, k, (n + kColumns - 1) / kColumns, 2 * kRows);
    ForParts(m, n, k, kColumns, parts, c, pool, [&](int64_t begin, int64_t end, int64_t first, int64_t last, float* to) {
      for (int64_t i = 0; i < m; ++i) std::fill(to + i * n + begin, to + i * n + end, 0.0f);
      for (int64_t p = first; p < last; p += kRows)
        RowsTimesRows(m, begin, end, std::min(kRows, last - p), {a.data + p * a.column, a.row, a.column}, b.data + p * b.row, b.row, to, n);
    });
    return true;
  }
  if (b.row != 1 || a.column != 1) return false;
  const int64_t columns = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(k, 1));
  const int64_t parts = PartsOf(n, k, (n + columns - 1) / columns, kLongSum);
  ForParts(m, n, k, columns, parts, c, pool, [&](int64_t begin, int64_t end, int64_t first, int64_t last, float* to) {
    const int64_t step = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(last - first, 1));
    for (int64_t j = begin; j < end; j += step)
      for (int64_t i = 0; i < m; ++i)
        RowsTimesVector(std::min(step, end - j), last - first, a.data + i * a.row + first, b.data + j * b.column + first, b.column, to + i * n + j);
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
