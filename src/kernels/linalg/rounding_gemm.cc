#include "kernels/linalg/rounding_gemm.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/arrays/floats.h"
#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

// Columns whose sums and row of b stay in the L1 cache.
constexpr int64_t kBlock = 512;

// The nearest bf16, as a float; equals FromBf16(ToBf16(value)), without branches.
inline float RoundedToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t nearest = bits + 0x7fffu + ((bits >> 16) & 1u), quiet = bits | 0x400000u;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>((is_nan ? quiet : nearest) & 0xffff0000u);
}

// sums[j] += left * row[j]
SHOAL_TARGET_CLONES void AddProducts(float left, const float* __restrict row, float* __restrict sums, int64_t n) {
  for (int64_t j = 0; j < n; ++j) sums[j] = RoundedToBf16(sums[j] + RoundedToBf16(left * row[j]));
}

}  // namespace

void GemmRoundingEachStep(int64_t m, int64_t n, int64_t k, MatrixView<uint16_t> a, MatrixView<uint16_t> b, uint16_t* c) {
  const int64_t width = std::min(n, kBlock);
  std::vector<float> panel(static_cast<size_t>(width * k)), sums(static_cast<size_t>(width));
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t columns = std::min(n - begin, kBlock);
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < columns; ++j)
        panel[static_cast<size_t>(p * columns + j)] = FromBf16(b.data[p * b.row + (begin + j) * b.column]);
    for (int64_t i = 0; i < m; ++i) {
      std::fill(sums.begin(), sums.end(), 0.0F);
      for (int64_t p = 0; p < k; ++p)
        AddProducts(FromBf16(a.data[i * a.row + p * a.column]), &panel[static_cast<size_t>(p * columns)], sums.data(), columns);
      std::transform(sums.begin(), sums.begin() + columns, c + i * n + begin, ToBf16);
    }
  }
}

}  // namespace shoal::internal
