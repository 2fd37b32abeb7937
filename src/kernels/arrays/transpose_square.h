// Transposes square tiles of elements in vector registers.
#pragma once

#include <cstdint>
#include <type_traits>

namespace shoal::internal {

// Elements along a side: as many as fit in 16 bytes, or 8 for one-byte types.
template <class T>
constexpr int64_t SquareSide() {
  return sizeof(T) == 1 ? 8 : 16 / static_cast<int64_t>(sizeof(T));
}

// One step of a transpose: interleaves rows i and i + side / 2 into rows 2 * i and 2 * i + 1. log2(side) steps
// transpose the square.
template <class T, int side>
[[gnu::always_inline]] inline void InterleaveRows(T (*rows)[side]) {
  typedef T Row __attribute__((vector_size(side * sizeof(T)), may_alias, aligned(sizeof(T))));
  typedef T Index __attribute__((vector_size(side * sizeof(T))));
  Index low, high;
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) {
    low[i] = static_cast<T>(i / 2 + (i % 2) * side);
    high[i] = static_cast<T>(i / 2 + (i % 2) * side + side / 2);
  }
  Row in[side], out[side];
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) in[i] = *reinterpret_cast<Row*>(rows[i]);
#pragma GCC unroll 16
  for (int i = 0; i < side / 2; ++i) {
    out[2 * i] = __builtin_shuffle(in[i], in[i + side / 2], low);
    out[2 * i + 1] = __builtin_shuffle(in[i], in[i + side / 2], high);
  }
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) *reinterpret_cast<Row*>(rows[i]) = out[i];
}

// to[r * to_stride + c] = from[c * from_stride + r].
template <class T>
[[gnu::always_inline]] inline void TransposeSquare(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  constexpr int kSide = static_cast<int>(SquareSide<T>());
  T rows[kSide][kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(rows[i], from + i * from_stride, sizeof(rows[i]));
#pragma GCC unroll 8
  for (int distance = kSide; distance > 1; distance /= 2) InterleaveRows<T, kSide>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(to + i * to_stride, rows[i], sizeof(rows[i]));
}

// to[c * rows + r] = from[r * columns + c], a few cache lines at a time.
template <class T>
void TransposeMatrix(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTile = 16;
  for (int64_t row = 0; row < rows; row += kTile) {
    for (int64_t column = 0; column < columns; column += kTile) {
      const int64_t last_row = row + kTile < rows ? row + kTile : rows, last_column = column + kTile < columns ? column + kTile : columns;
      int64_t r = row;
      if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        constexpr int64_t kSide = SquareSide<Bits>();
        if (last_column - column == kTile)
          for (; r + kSide <= last_row; r += kSide)
            for (int64_t c = column; c < last_column; c += kSide)
              TransposeSquare(reinterpret_cast<const Bits*>(from + r * columns + c), columns, reinterpret_cast<Bits*>(to + c * rows + r), rows);
      }
      for (; r < last_row; ++r)
        for (int64_t c = column; c < last_column; ++c) to[c * rows + r] = from[r * columns + c];
    }
  }
}

}  // namespace shoal::internal
