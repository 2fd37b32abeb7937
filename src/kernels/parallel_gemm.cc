#include "kernels/parallel_gemm.h"

#include <algorithm>
#include <vector>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SHOAL_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SHOAL_VECTORS
#endif

namespace shoal {
namespace {

// Below this many multiplications a call of BLAS costs more than it saves.
constexpr int64_t kSmall = int64_t{1} << 16;
constexpr int64_t kSmallest = int64_t{1} << 12;
// About 10 µs of products.
constexpr int64_t kTask = int64_t{1} << 19;

// c = a b with the rows of b along the vectors: every b element is read once per row of a.
SHOAL_VECTORS void SmallGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_column,
                             const float* b, int64_t b_row, float* c, int64_t ldc) {
  constexpr int64_t kColumns = 64;
  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t columns = n - j < kColumns ? n - j : kColumns;
    for (int64_t i = 0; i < m; ++i) {
      float sums[kColumns] = {};
      for (int64_t p = 0; p < k; ++p) {
        const float factor = a[i * a_row + p * a_column];
        const float* row = b + p * b_row + j;
        if (columns == kColumns)
          for (int64_t s = 0; s < kColumns; ++s) sums[s] += factor * row[s];
        else
          for (int64_t s = 0; s < columns; ++s) sums[s] += factor * row[s];
      }
      for (int64_t s = 0; s < columns; ++s) c[i * ldc + j + s] = sums[s];
    }
  }
}

// One row: c[j] = Σ a[p] b[p, j] for columns [begin, end); memory is read row by row, in stretches that stay in cache.
SHOAL_VECTORS void RowTimesRows(int64_t begin, int64_t end, int64_t k, const float* a, int64_t a_stride, const float* b,
                                int64_t b_row, float* c) {
  for (int64_t j = begin; j < end; ++j) c[j] = 0;
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    const float f0 = a[p * a_stride], f1 = a[(p + 1) * a_stride], f2 = a[(p + 2) * a_stride], f3 = a[(p + 3) * a_stride];
    const float *r0 = b + p * b_row, *r1 = r0 + b_row, *r2 = r1 + b_row, *r3 = r2 + b_row;
    for (int64_t j = begin; j < end; ++j) c[j] += (f0 * r0[j] + f1 * r1[j]) + (f2 * r2[j] + f3 * r3[j]);
  }
  for (; p < k; ++p) {
    const float factor = a[p * a_stride];
    const float* row = b + p * b_row;
    for (int64_t j = begin; j < end; ++j) c[j] += factor * row[j];
  }
}

// Σ a[p] b[p] with both lying together in memory, in lanes that are summed at the end.
SHOAL_VECTORS float Dot(int64_t k, const float* a, const float* b) {
  constexpr int64_t kLanes = 32;
  float sums[kLanes] = {};
  int64_t p = 0;
  for (; p + kLanes <= k; p += kLanes)
    for (int64_t s = 0; s < kLanes; ++s) sums[s] += a[p + s] * b[p + s];
  for (int64_t s = 0; p + s < k; ++s) sums[s] += a[p + s] * b[p + s];
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t s = 0; s < width; ++s) sums[s] += sums[s + width];
  return sums[0];
}

// Few rows, and so much of b that reading it is the work. False if it is not laid out for that.
bool SkinnyGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, ThreadPool& pool) {
  if (b.column == 1) {
    ForBlocks(pool, n, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < m; ++i) RowTimesRows(begin, end, k, a.data + i * a.row, a.column, b.data, b.row, c + i * n);
    });
    return true;
  }
  if (b.row != 1 || a.column != 1) return false;
  ForBlocks(pool, n, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(k, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t i = 0; i < m; ++i) c[i * n + j] = Dot(k, a.data + i * a.row, b.data + j * b.column);
  });
  return true;
}

// A small product by itself, in one thread. The smallest are summed in f64, as the interpreter has them: exactly
// repeatable values cost nothing there.
void OneSmall(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c) {
  if (m * n * k <= kSmallest) return Gemm<float>(m, n, k, a, b, c, n, false);
  std::vector<float> packed;
  if (b.column != 1 && n != 1) {
    packed.resize(static_cast<size_t>(k * n));
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) packed[static_cast<size_t>(p * n + j)] = b.data[p * b.row + j * b.column];
    b = {packed.data(), n, 1};
  }
  SmallGemm(m, n, k, a.data, a.row, a.column, b.data, b.row, c, n);
}

// The tile of one matrix of the batch that a task computes.
struct Tiles {
  int64_t rows, columns;        // of a tile
  int64_t down, across;         // how many
};

Tiles TilesOf(int64_t m, int64_t n, int64_t k) {
  // Tall enough that packing b is worth it; two or more of them where there is work for several threads.
  Tiles tiles{m, n, 1, 1};
  if (m * n * std::max<int64_t>(k, 1) < 2 * kTask) return tiles;
  if (m >= n) {
    tiles.rows = std::max<int64_t>(96, (m + 7) / 8);
    tiles.rows = std::min(m, (tiles.rows + 15) / 16 * 16);
  } else {
    tiles.columns = std::max<int64_t>(96, (n + 7) / 8);
    tiles.columns = std::min(n, (tiles.columns + 15) / 16 * 16);
  }
  tiles.down = (m + tiles.rows - 1) / tiles.rows;
  tiles.across = (n + tiles.columns - 1) / tiles.columns;
  return tiles;
}

template <class T>
void Tiled(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, std::span<const GemmPlaces> places, T* c,
           ThreadPool& pool) {
  const Tiles tiles = TilesOf(m, n, k);
  const int64_t per_matrix = tiles.down * tiles.across;
  const auto batch = static_cast<int64_t>(places.size());
  const int64_t each = std::max<int64_t>(1, m * n * std::max<int64_t>(k, 1) / per_matrix);
  ForBlocks(pool, batch * per_matrix, std::max<int64_t>(1, kTask / each), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const GemmPlaces& place = places[static_cast<size_t>(t / per_matrix)];
      const int64_t i = t % per_matrix / tiles.across * tiles.rows, j = t % tiles.across * tiles.columns;
      Gemm<T>(std::min(tiles.rows, m - i), std::min(tiles.columns, n - j), k,
              {a.data + place.a + i * a.row, a.row, a.column}, {b.data + place.b + j * b.column, b.row, b.column},
              c + t / per_matrix * m * n + i * n + j, n, false);
    }
  });
}

}  // namespace

void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                  std::span<const GemmPlaces> places, float* c, ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  const int64_t work = m * n * std::max<int64_t>(k, 1);
  if (places.size() == 1 && m <= 4 && work > kSmall &&
      SkinnyGemm(m, n, k, {a.data + places[0].a, a.row, a.column}, {b.data + places[0].b, b.row, b.column}, c, pool))
    return;
  if (work > kSmall) return Tiled<float>(m, n, k, a, b, places, c, pool);
  ForBlocks(pool, static_cast<int64_t>(places.size()), std::max<int64_t>(1, kTask / 4 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const GemmPlaces& place = places[static_cast<size_t>(i)];
      OneSmall(m, n, k, {a.data + place.a, a.row, a.column}, {b.data + place.b, b.row, b.column}, c + i * m * n);
    }
  });
}

void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b,
                  std::span<const GemmPlaces> places, double* c, ThreadPool& pool) {
  if (m != 0 && n != 0) Tiled<double>(m, n, k, a, b, places, c, pool);
}

}  // namespace shoal
