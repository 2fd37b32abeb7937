#include "kernels/linalg/tiny_gemm.h"

#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

// The number of columns is a constant, so that a row of sums stays in registers.
template <int n>
[[gnu::always_inline]] inline void Multiply(int64_t m, int64_t k, MatrixView<float> a, MatrixView<float> b,
                                            std::span<const GemmOffsets> offsets, float* c) {
  for (const GemmOffsets& start : offsets) {
    for (int64_t i = 0; i < m; ++i, c += n) {
      float sums[n] = {};
      const float* row = a.data + start.a + i * a.row;
      const float* from = b.data + start.b;
      for (int64_t p = 0; p < k; ++p, row += a.column, from += b.row)
        for (int j = 0; j < n; ++j) sums[j] += *row * from[j * b.column];
      for (int j = 0; j < n; ++j) c[j] = sums[j];
    }
  }
}

template <int n>
[[gnu::always_inline]] inline void MultiplyAny(int64_t m, int64_t k, MatrixView<float> a, MatrixView<float> b,
                                               std::span<const GemmOffsets> offsets, float* c) {
  if (b.column == 1) return Multiply<n>(m, k, a, {b.data, b.row, 1}, offsets, c);
  Multiply<n>(m, k, a, b, offsets, c);
}

}  // namespace

SHOAL_TARGET_CLONES void TinyGemms(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                             std::span<const GemmOffsets> offsets, float* c) {
  switch (n) {
    case 1:
      return MultiplyAny<1>(m, k, a, b, offsets, c);
    case 2:
      return MultiplyAny<2>(m, k, a, b, offsets, c);
    case 3:
      return MultiplyAny<3>(m, k, a, b, offsets, c);
    case 4:
      return MultiplyAny<4>(m, k, a, b, offsets, c);
    case 5:
      return MultiplyAny<5>(m, k, a, b, offsets, c);
    case 6:
      return MultiplyAny<6>(m, k, a, b, offsets, c);
    case 7:
      return MultiplyAny<7>(m, k, a, b, offsets, c);
    default:
      return MultiplyAny<8>(m, k, a, b, offsets, c);
  }
}

}  // namespace shoal::internal
