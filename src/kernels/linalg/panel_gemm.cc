#include "kernels/linalg/panel_gemm.h"

#include <algorithm>
#include <vector>

#include "kernels/arrays/floats.h"
#include "kernels/linalg/parallel_gemm.h"

namespace shoal::internal {
namespace {

// The width and depth of a panel, which takes at most half of a second-level cache.
constexpr int64_t kWidth = 128, kDepth = 256;
// If the small operand has more rows or columns than this, the conversion is cheap relative to the multiplication.
constexpr int64_t kMaxSmall = 128;

const std::byte* At(const FloatMatrix& matrix, int64_t row, int64_t column) {
  return matrix.data + (row * matrix.row + column * matrix.column) * StorageBytes(matrix.type);
}

// Rows [row, row + rows) and columns [column, column + columns) as f32; the contiguous dimension stays contiguous.
MatrixView<float> Decoded(const FloatMatrix& matrix, int64_t row, int64_t rows, int64_t column, int64_t columns,
                          std::vector<float>& out) {
  out.resize(static_cast<size_t>(std::max<int64_t>(1, rows * columns)));
  if (matrix.column == 1) {
    for (int64_t i = 0; i < rows; ++i) DecodeFloats(matrix.type, At(matrix, row + i, column), out.data() + i * columns, columns);
    return {out.data(), columns, 1};
  }
  for (int64_t j = 0; j < columns; ++j) DecodeFloats(matrix.type, At(matrix, row, column + j), out.data() + j * rows, rows);
  return {out.data(), 1, rows};
}

bool HasUnitStride(const FloatMatrix& matrix) { return matrix.row == 1 || matrix.column == 1; }

}  // namespace

bool PanelGemm(int64_t m, int64_t n, int64_t k, const FloatMatrix& a, const FloatMatrix& b, float* c, ThreadPool& pool) {
  const bool splits_b = m <= n;
  const FloatMatrix& large = splits_b ? b : a;
  if (std::min(m, n) > kMaxSmall || std::max(m, n) < 2 * kWidth || k < 16 || large.type == ElementType::kF32) return false;
  if (!HasUnitStride(a) || !HasUnitStride(b)) return false;
  std::vector<float> small_data;
  const MatrixView<float> small = splits_b ? Decoded(a, 0, m, 0, k, small_data) : Decoded(b, 0, k, 0, n, small_data);
  ForBlocks(pool, splits_b ? n : m, kWidth, [&](int64_t begin, int64_t end) {
    thread_local std::vector<float> panel;
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      if (splits_b) {
        const MatrixView<float> part = Decoded(b, p, depth, begin, end - begin, panel);
        AddGemm(m, end - begin, depth, {small.data + p * small.column, small.row, small.column}, part, c + begin, n, p > 0);
      } else {
        const MatrixView<float> part = Decoded(a, begin, end - begin, p, depth, panel);
        AddGemm(end - begin, n, depth, part, {small.data + p * small.row, small.row, small.column}, c + begin * n, n, p > 0);
      }
    }
  });
  return true;
}

}  // namespace shoal::internal
