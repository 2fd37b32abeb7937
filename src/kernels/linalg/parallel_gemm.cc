#include "kernels/linalg/parallel_gemm.h"

#include <algorithm>
#include <memory>

#include "kernels/linalg/onednn.h"
#include "kernels/linalg/skinny_gemm.h"
#include "kernels/linalg/small_gemm.h"
#include "kernels/linalg/tiny_gemm.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxWorkInDouble = int64_t{1} << 12;
// Multiplications in about 10 µs.
constexpr int64_t kTaskWork = int64_t{1} << 19;

// Without AVX-512, oneDNN packs only the largest matrices. Without packing, it is half as fast as OpenBLAS if the rows
// of b are a power of two apart, because they then map to few cache lines. oneDNN is faster for other matrices and for
// small ones.
bool IsForBlas(int64_t m, int64_t n, int64_t k, const MatrixView<float>& b) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  if (wide) return false;
  const bool are_rows_apart = b.column == 1 && b.row % 256 == 0 && m >= 48 && n >= 64 && k >= 128;
  return are_rows_apart || (std::min({m, n, k}) >= 256 && m * n * k >= int64_t{1} << 26);
#else
  return std::min({m, n, k}) >= 256;
#endif
}

// The description of a matrix that libraries take.
struct BlasLayout {
  bool transposed;
  int64_t stride;  // distance of consecutive rows (or columns); at least their length
};

template <class T>
BlasLayout LayoutOf(const MatrixView<T>& matrix, int64_t rows, int64_t columns) {
  const bool transposed = matrix.column != 1 && columns != 1;
  return {transposed, std::max(transposed ? matrix.column : matrix.row, transposed ? rows : columns)};
}

void SerialGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool add = false) {
  static const OneDnn* const library = OpenOneDnn();
  if (library == nullptr || k == 0 || IsForBlas(m, n, k, b)) return Gemm<float>(m, n, k, a, b, c, ldc, add);
  const BlasLayout left = LayoutOf(a, m, k), right = LayoutOf(b, k, n);
  library->Sgemm(left.transposed, right.transposed, m, n, k, a.data, left.stride, b.data, right.stride, add ? 1 : 0, c, ldc);
}
template <class T>
void SerialGemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc) {
  Gemm<T>(m, n, k, a, b, c, ldc, false);
}

void SerialGemm(int64_t m, int64_t n, int64_t k, MatrixView<Bf16> a, MatrixView<Bf16> b, float* c, int64_t ldc) {
  const BlasLayout left = LayoutOf(a, m, k), right = LayoutOf(b, k, n);
  OpenOneDnn()->Bf16Gemm(left.transposed, right.transposed, m, n, k, &a.data->bits, left.stride, &b.data->bits, right.stride, c, ldc);
}

void SerialGemm(int64_t m, int64_t n, int64_t k, MatrixView<int8_t> a, MatrixView<int8_t> b, int32_t* c, int64_t ldc) {
  const BlasLayout left = LayoutOf(a, m, k), right = LayoutOf(b, k, n);
  OpenOneDnn()->Int8Gemm(left.transposed, right.transposed, m, n, k, a.data, left.stride, b.data, right.stride, c, ldc);
}

// The division of a GEMM into tiles, and of the sums of a tile into parts. It depends only on the sizes: a library may
// sum in an order that depends on the size of the tile.
struct Tiles {
  int64_t down = 1, across = 1, deep = 1;
  int64_t count() const { return down * across * deep; }
};

// Real multiplications in a product of two elements.
template <class T>
constexpr int64_t kWorkPerProduct = 1;
template <class T>
constexpr int64_t kWorkPerProduct<std::complex<T>> = 4;

Tiles TilesOf(int64_t m, int64_t n, int64_t k, int64_t batch, int64_t work_per_product) {
  // A tile has at least so many multiplications (about 50 µs), so many rows or columns and such sums. Smaller tiles would
  // cost more to pack. With several tiles for each thread, threads of different speeds end together. Sums are split only if
  // there would be few tiles, because the parts take memory.
  constexpr int64_t kWork = 1 << 22, kDepth = 512, kMax = 64, kFew = 16;
  // In the time in which one core reads an element from memory, it multiplies about so many.
  constexpr int64_t kWorkPerRead = 16;
  const int64_t matrices = std::min(batch, kMax), side = work_per_product == 1 ? 96 : 48;
  const int64_t work = (m * n * work_per_product + (m + n) * kWorkPerRead) * std::max<int64_t>(k, 1);
  const int64_t all = std::min(work / kWork * matrices, kMax);
  const int64_t wanted = (all + matrices - 1) / matrices;
  Tiles tiles;
  // Halves the longer side of a tile until there are enough tiles.
  while (tiles.down * tiles.across < wanted) {
    const int64_t rows = m / tiles.down, columns = n / tiles.across;
    if (rows >= columns && rows >= 2 * side)
      tiles.down *= 2;
    else if (columns >= 2 * side)
      tiles.across *= 2;
    else if (rows >= 2 * side)
      tiles.down *= 2;
    else
      break;
  }
  const int64_t missing = (std::min(wanted, kFew) + tiles.down * tiles.across - 1) / (tiles.down * tiles.across);
  tiles.deep = std::max<int64_t>(1, std::min(missing, k / kDepth));
  return tiles;
}

// The start of tile i of `tiles`: a multiple of 16, because libraries work in blocks of about that size.
int64_t TileStart(int64_t size, int64_t tiles, int64_t i) {
  return i == tiles ? size : std::min(size, (size * i / tiles + 8) / 16 * 16);
}

// c += the matrices in `parts`, which follow each other, in order.
template <class Sum>
void AddParts(int64_t size, int64_t parts, const Sum* from, Sum* c, ThreadPool& pool) {
  ForBlocks(pool, size, 1 << 13, [&](int64_t begin, int64_t end) {
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = begin; i < end; ++i) c[i] += from[part * size + i];
  });
}

template <class T, class Sum>
void TiledGemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, std::span<const GemmOffsets> offsets, Sum* c,
           ThreadPool& pool) {
  const auto batch = static_cast<int64_t>(offsets.size());
  const Tiles tiles = TilesOf(m, n, k, batch, kWorkPerProduct<T>);
  const int64_t per_part = tiles.down * tiles.across, size = batch * m * n;
  const int64_t each = std::max<int64_t>(1, m * n * std::max<int64_t>(k, 1) / tiles.count());
  std::unique_ptr<Sum[]> sums;
  if (tiles.deep > 1) sums = std::make_unique_for_overwrite<Sum[]>(static_cast<size_t>((tiles.deep - 1) * size));
  ForBlocks(pool, batch * tiles.count(), std::max<int64_t>(1, kTaskWork / each), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t matrix = t / tiles.count(), part = t % tiles.count() / per_part;
      const GemmOffsets& start = offsets[static_cast<size_t>(matrix)];
      const int64_t down = t % per_part / tiles.across, across = t % tiles.across;
      const int64_t i = TileStart(m, tiles.down, down), j = TileStart(n, tiles.across, across);
      const int64_t rows = TileStart(m, tiles.down, down + 1) - i, columns = TileStart(n, tiles.across, across + 1) - j;
      if (rows <= 0 || columns <= 0) continue;
      const int64_t first = k * part / tiles.deep, last = k * (part + 1) / tiles.deep;
      Sum* to = (part == 0 ? c : sums.get() + (part - 1) * size) + matrix * m * n;
      SerialGemm(rows, columns, last - first, MatrixView<T>{a.data + start.a + i * a.row + first * a.column, a.row, a.column},
                 MatrixView<T>{b.data + start.b + first * b.row + j * b.column, b.row, b.column}, to + i * n + j, n);
    }
  });
  if (tiles.deep > 1) AddParts(size, tiles.deep - 1, sums.get(), c, pool);
}

}  // namespace

void AddGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool add) {
  SerialGemm(m, n, k, a, b, c, ldc, add);
}

void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                  std::span<const GemmOffsets> offsets, float* c, ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  const int64_t work = m * n * std::max<int64_t>(k, 1), batch = static_cast<int64_t>(offsets.size());
  // The smallest GEMMs are summed in f64, as in the interpreter: reproducible values cost nothing at this size.
  if (work * batch <= kMaxWorkInDouble) {
    for (int64_t i = 0; i < batch; ++i) {
      const GemmOffsets& start = offsets[static_cast<size_t>(i)];
      Gemm<float>(m, n, k, {a.data + start.a, a.row, a.column}, {b.data + start.b, b.row, b.column}, c + i * m * n, n, false);
    }
    return;
  }
  if (batch == 1 && (work > kMinLibraryWork || m == 1 || n == 1)) {
    const MatrixView<float> first{a.data + offsets[0].a, a.row, a.column}, second{b.data + offsets[0].b, b.row, b.column};
    if (m <= kMaxSkinnyRows && SkinnyGemm(m, n, k, first, second, c, pool)) return;
    // One column: multiplies the transposed matrices.
    if (n == 1 && SkinnyGemm(1, m, k, {second.data, second.column, second.row}, MatrixView<float>{first.data, first.column, first.row}, c, pool))
      return;
  }
  if (work > kMinLibraryWork) return TiledGemm(m, n, k, a, b, offsets, c, pool);
  if (n <= kMaxTinyColumns && work <= kMaxTinyWork) {
    ForBlocks(pool, batch, std::max<int64_t>(1, kTaskWork / 16 / work), [&](int64_t begin, int64_t end) {
      TinyGemms(m, n, k, a, b, offsets.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), c + begin * m * n);
    });
    return;
  }
  ForBlocks(pool, batch, std::max<int64_t>(1, kTaskWork / 2 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const GemmOffsets& start = offsets[static_cast<size_t>(i)];
      SmallGemm(m, n, k, {a.data + start.a, a.row, a.column}, {b.data + start.b, b.row, b.column}, c + i * m * n);
    }
  });
}

bool ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<Bf16> a, MatrixView<Bf16> b,
                  std::span<const GemmOffsets> offsets, float* c, ThreadPool& pool) {
  const OneDnn* library = OpenOneDnn();
  if (library == nullptr || !library->HasBf16() || m * n * k <= kMinLibraryWork) return false;
  TiledGemm(m, n, k, a, b, offsets, c, pool);
  return true;
}

bool ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<int8_t> a, MatrixView<int8_t> b,
                  std::span<const GemmOffsets> offsets, int32_t* c, ThreadPool& pool) {
  const OneDnn* library = OpenOneDnn();
  if (library == nullptr || !library->HasInt8() || m * n * k <= kMinLibraryWork) return false;
  TiledGemm(m, n, k, a, b, offsets, c, pool);
  return true;
}

template <class T>
void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, std::span<const GemmOffsets> offsets, T* c,
                  ThreadPool& pool) {
  if (m != 0 && n != 0) TiledGemm(m, n, k, a, b, offsets, c, pool);
}
template void ParallelGemm(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, std::span<const GemmOffsets>, double*,
                           ThreadPool&);
template void ParallelGemm(int64_t, int64_t, int64_t, MatrixView<uint64_t>, MatrixView<uint64_t>, std::span<const GemmOffsets>,
                           uint64_t*, ThreadPool&);
template void ParallelGemm(int64_t, int64_t, int64_t, MatrixView<std::complex<float>>, MatrixView<std::complex<float>>,
                           std::span<const GemmOffsets>, std::complex<float>*, ThreadPool&);
template void ParallelGemm(int64_t, int64_t, int64_t, MatrixView<std::complex<double>>, MatrixView<std::complex<double>>,
                           std::span<const GemmOffsets>, std::complex<double>*, ThreadPool&);

void ParallelGemm(int64_t m, int64_t n, int64_t k, MatrixView<uint32_t> a, MatrixView<uint32_t> b,
                  std::span<const GemmOffsets> offsets, uint32_t* c, ThreadPool& pool) {
  constexpr int64_t kRows = 48;
  const int64_t blocks = (m + kRows - 1) / kRows, each = std::max<int64_t>(1, std::min(m, kRows) * n * std::max<int64_t>(k, 1));
  ForBlocks(pool, static_cast<int64_t>(offsets.size()) * blocks, std::max<int64_t>(1, kTaskWork / 4 / each), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const GemmOffsets& start = offsets[static_cast<size_t>(t / blocks)];
      const int64_t i = t % blocks * kRows;
      SmallGemm(std::min(kRows, m - i), n, k, {a.data + start.a + i * a.row, a.row, a.column},
                {b.data + start.b, b.row, b.column}, c + t / blocks * m * n + i * n);
    }
  });
}

}  // namespace shoal::internal
