#include "kernels/linalg/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/linalg/blas_memory.h"

namespace shoal::internal {
namespace {

template <class T>
void MultiplyAdd(T& sum, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    sum = sum || (a && b);
  } else if constexpr (std::is_integral_v<T>) {
    // At least unsigned int: narrower types would be promoted to int, whose overflow is undefined.
    using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, T>;
    sum = static_cast<T>(Wide{sum} + Wide{a} * Wide{b});
  } else {
    sum += a * b;
  }
}

// A block of b stays in the cache while it is multiplied by all rows of the matrix a.
constexpr int64_t kBlock = 256;

// c += a * b; the innermost loop runs along the rows of b and c.
template <class T>
void MultiplyBlock(int64_t m, int64_t n, int64_t k, MatrixView<T> a, const T* b, int64_t ldb, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    T* sums = c + i * ldc;
    for (int64_t p = 0; p < k; ++p) {
      const T factor = a.data[i * a.row + p * a.column];
      const T* row = b + p * ldb;
      for (int64_t j = 0; j < n; ++j) MultiplyAdd(sums[j], factor, row[j]);
    }
  }
}

template <class T>
void GemmByLoops(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc) {
  T block[kBlock * kBlock / sizeof(T)];
  constexpr int64_t kRows = kBlock / static_cast<int64_t>(sizeof(T));
  for (int64_t p = 0; p < k; p += kRows) {
    const int64_t rows = std::min(kRows, k - p);
    for (int64_t j = 0; j < n; j += kBlock) {
      const int64_t columns = std::min(kBlock, n - j);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t s = 0; s < columns; ++s) block[r * columns + s] = b.data[(p + r) * b.row + (j + s) * b.column];
      MultiplyBlock(m, columns, rows, {a.data + p * a.column, a.row, a.column}, block, columns, c + j, ldc);
    }
  }
}

// Small GEMMs of f32 are summed in f64, in the order of k, and rounded once. Every element is computed identically, so
// equal rows yield equal results on every machine. Library kernels do not ensure that: they sum the edges of a matrix
// in a different order than its interior.
constexpr int64_t kMaxWorkInDouble = int64_t{1} << 18;

void GemmInDouble(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc,
                  bool accumulate) {
  double sums[kBlock];
  std::vector<float> packed;
  if (b.column != 1) {
    packed.resize(static_cast<size_t>(k * n));
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) packed[static_cast<size_t>(p * n + j)] = b.data[p * b.row + j * b.column];
    b = {packed.data(), n, 1};
  }
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t columns = std::min(kBlock, n - start);
    for (int64_t i = 0; i < m; ++i) {
      float* results = c + i * ldc + start;
      for (int64_t j = 0; j < columns; ++j) sums[j] = accumulate ? results[j] : 0;
      for (int64_t p = 0; p < k; ++p) {
        const double factor = a.data[i * a.row + p * a.column];
        const float* row = b.data + p * b.row + start;
        for (int64_t j = 0; j < columns; ++j) sums[j] += factor * static_cast<double>(row[j]);
      }
      for (int64_t j = 0; j < columns; ++j) results[j] = static_cast<float>(sums[j]);
    }
  }
}

// A matrix in the terms of BLAS. The leading dimension is at least the length of a row.
struct BlasMatrix {
  CBLAS_TRANSPOSE transpose;
  int ld;
};
template <class T>
BlasMatrix AsBlas(MatrixView<T> view, int64_t rows, int64_t columns) {
  const bool transposed = view.column != 1 && columns != 1;
  const int64_t stride = transposed ? view.column : view.row;
  return {transposed ? CblasTrans : CblasNoTrans,
          static_cast<int>(std::max<int64_t>(stride, std::max<int64_t>(transposed ? rows : columns, 1)))};
}

void CallBlas(int m, int n, int k, BlasMatrix ta, const float* a, BlasMatrix tb, const float* b, float beta, float* c,
              int ldc) {
  cblas_sgemm(CblasRowMajor, ta.transpose, tb.transpose, m, n, k, 1, a, ta.ld, b, tb.ld, beta, c, ldc);
}
void CallBlas(int m, int n, int k, BlasMatrix ta, const double* a, BlasMatrix tb, const double* b, double beta,
              double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta.transpose, tb.transpose, m, n, k, 1, a, ta.ld, b, tb.ld, beta, c, ldc);
}
void CallBlas(int m, int n, int k, BlasMatrix ta, const std::complex<float>* a, BlasMatrix tb,
              const std::complex<float>* b, std::complex<float> beta, std::complex<float>* c, int ldc) {
  const std::complex<float> one = 1;
  cblas_cgemm(CblasRowMajor, ta.transpose, tb.transpose, m, n, k, &one, a, ta.ld, b, tb.ld, &beta, c, ldc);
}
void CallBlas(int m, int n, int k, BlasMatrix ta, const std::complex<double>* a, BlasMatrix tb,
              const std::complex<double>* b, std::complex<double> beta, std::complex<double>* c, int ldc) {
  const std::complex<double> one = 1;
  cblas_zgemm(CblasRowMajor, ta.transpose, tb.transpose, m, n, k, &one, a, ta.ld, b, tb.ld, &beta, c, ldc);
}

// BLAS takes sizes of 32 bits.
constexpr int64_t kMaxBlas = std::numeric_limits<int>::max();

template <class T>
void GemmByBlas(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T beta, T* c, int64_t ldc) {
  RequireBlasMemory();
  CallBlas(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), AsBlas(a, m, k), a.data, AsBlas(b, k, n),
           b.data, beta, c, static_cast<int>(std::max(ldc, n)));
}

}  // namespace

template <class T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc, bool accumulate) {
  if (m == 0 || n == 0) return;
  if constexpr (std::is_same_v<T, float>)
    if (k <= kMaxWorkInDouble && m <= kMaxWorkInDouble && n <= kMaxWorkInDouble / m && k <= kMaxWorkInDouble / (m * n))
      return GemmInDouble(m, n, k, a, b, c, ldc, accumulate);
  if constexpr (!std::is_integral_v<T>) {
    const bool fits = std::max({m, n, k, a.row, a.column, b.row, b.column, ldc}) <= kMaxBlas;
    if (fits && k != 0) return GemmByBlas(m, n, k, a, b, accumulate ? T{1} : T{}, c, ldc);
  }
  if (!accumulate)
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T{});
  GemmByLoops(m, n, k, a, b, c, ldc);
}

template void Gemm(int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>, float*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, double*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<std::complex<float>>, MatrixView<std::complex<float>>,
                   std::complex<float>*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<std::complex<double>>, MatrixView<std::complex<double>>,
                   std::complex<double>*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<bool>, MatrixView<bool>, bool*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<uint8_t>, MatrixView<uint8_t>, uint8_t*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<uint16_t>, MatrixView<uint16_t>, uint16_t*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<uint32_t>, MatrixView<uint32_t>, uint32_t*, int64_t, bool);
template void Gemm(int64_t, int64_t, int64_t, MatrixView<uint64_t>, MatrixView<uint64_t>, uint64_t*, int64_t, bool);

}  // namespace shoal::internal
