#include "kernels/linalg/small_gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

constexpr int64_t kLanes = 8, kMaxVectors = 3, kMaxColumns = kLanes * kMaxVectors;
typedef float FloatLanes __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
typedef uint32_t IntLanes __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
template <class T>
struct LanesOf {
  typedef FloatLanes type;
};
template <>
struct LanesOf<uint32_t> {
  typedef IntLanes type;
};

// The operands of a tile: rows of a and c, and rows of b that are readable in whole vectors.
template <class T>
struct Tile {
  int64_t k, columns;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t ldc;
};

// Computes `rows` by `vectors` sums, which the compiler keeps in registers because both are constants.
template <int rows, int vectors, class T>
[[gnu::always_inline]] inline void MultiplyTile(const Tile<T>& tile) {
  using Lanes = typename LanesOf<T>::type;
  Lanes sums[rows][vectors] = {};
  const T* b = tile.b;
  const T* a = tile.a;
  for (int64_t p = 0; p < tile.k; ++p, b += tile.b_row, a += tile.a_column) {
    Lanes row[vectors];
    for (int v = 0; v < vectors; ++v) row[v] = *reinterpret_cast<const Lanes*>(b + v * kLanes);
    for (int r = 0; r < rows; ++r) {
      const T factor = a[r * tile.a_row];
      for (int v = 0; v < vectors; ++v) sums[r][v] += factor * row[v];
    }
  }
  const int64_t whole = tile.columns / kLanes, rest = tile.columns % kLanes;
  for (int r = 0; r < rows; ++r) {
    T* c = tile.c + r * tile.ldc;
    for (int v = 0; v < vectors; ++v) {
      if (v < whole) {
        *reinterpret_cast<Lanes*>(c + v * kLanes) = sums[r][v];
      } else if (v == whole && rest != 0) {
        T last[kLanes];
        *reinterpret_cast<Lanes*>(last) = sums[r][v];
        T* to = c + v * kLanes;
        const T* from = last;
        if ((rest & 4) != 0) std::memcpy(to, from, 16), to += 4, from += 4;
        if ((rest & 2) != 0) std::memcpy(to, from, 8), to += 2, from += 2;
        if ((rest & 1) != 0) *to = *from;
      }
    }
  }
}

template <int vectors, class T>
[[gnu::always_inline]] inline void MultiplyRows(int64_t rows, const Tile<T>& tile) {
  switch (rows) {
    case 1:
      return MultiplyTile<1, vectors>(tile);
    case 2:
      return MultiplyTile<2, vectors>(tile);
    case 3:
      return MultiplyTile<3, vectors>(tile);
    case 4:
      return MultiplyTile<4, vectors>(tile);
    case 5:
      if constexpr (vectors < 3) return MultiplyTile<5, vectors>(tile);
      break;
    default:
      if constexpr (vectors < 3) return MultiplyTile<6, vectors>(tile);
  }
}

// The maximum number of rows that leaves registers for a and b.
constexpr int64_t MaxRows(int64_t vectors) { return vectors == 3 ? 4 : 6; }

template <class T>
[[gnu::always_inline]] inline void MultiplyAll(int64_t m, int64_t vectors, const Tile<T>& tile) {
  const int64_t tiles = (m + MaxRows(vectors) - 1) / MaxRows(vectors);
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t first = m * t / tiles, rows = m * (t + 1) / tiles - first;
    Tile<T> part = tile;
    part.a += first * tile.a_row;
    part.c += first * tile.ldc;
    if (vectors == 3)
      MultiplyRows<3>(rows, part);
    else if (vectors == 2)
      MultiplyRows<2>(rows, part);
    else
      MultiplyRows<1>(rows, part);
  }
}

// One function for each type: templates cannot have target clones.
SHOAL_TARGET_CLONES void MultiplyColumns(int64_t m, int64_t vectors, const Tile<float>& tile) { MultiplyAll(m, vectors, tile); }
SHOAL_TARGET_CLONES void MultiplyColumns(int64_t m, int64_t vectors, const Tile<uint32_t>& tile) {
  MultiplyAll(m, vectors, tile);
}

// Packs columns [begin, begin + columns) of b as rows of whole vectors, padded with zeros.
template <class T>
void Pack(MatrixView<T> b, int64_t k, int64_t begin, int64_t columns, int64_t width, T* packed) {
  for (int64_t p = 0; p < k; ++p) {
    const T* from = b.data + p * b.row + begin * b.column;
    T* to = packed + p * width;
    for (int64_t j = 0; j < columns; ++j) to[j] = from[j * b.column];
    for (int64_t j = columns; j < width; ++j) to[j] = 0;
  }
}

template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c) {
  thread_local std::vector<T> packed;
  const bool is_far_apart = m >= 32 && b.row > 512;  // each row of b is on another page
  for (int64_t j = 0; j < n;) {
    const int64_t left = n - j;
    // Two vectors, or three if that avoids a tile of few columns.
    const int64_t vectors = left <= kLanes ? 1 : left <= 2 * kLanes || left > kMaxColumns ? 2 : 3;
    const int64_t columns = std::min(left, vectors * kLanes), width = vectors * kLanes;
    Tile<T> tile{k, columns, a.data, a.row, a.column, b.data + j, b.row, c + j, n};
    if (b.column != 1 || columns != width || is_far_apart) {
      packed.resize(static_cast<size_t>(k * width));
      Pack(b, k, j, columns, width, packed.data());
      tile.b = packed.data();
      tile.b_row = width;
    }
    MultiplyColumns(m, vectors, tile);
    j += columns;
  }
}

}  // namespace

void SmallGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c) {
  Multiply(m, n, k, a, b, c);
}
void SmallGemm(int64_t m, int64_t n, int64_t k, MatrixView<uint32_t> a, MatrixView<uint32_t> b, uint32_t* c) {
  Multiply(m, n, k, a, b, c);
}

}  // namespace shoal::internal
