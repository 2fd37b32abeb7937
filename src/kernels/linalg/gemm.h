// Single-threaded GEMM. Floats and complex numbers use OpenBLAS; integers use shoal's own loops, which wrap. Several
// threads may call it concurrently.
#pragma once

#include <complex>
#include <cstdint>

namespace shoal::internal {

// Element (i, j) of a matrix is data[i * row + j * column]. One of the strides is 1 unless the matrix has a single row
// or column.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row = 0, column = 1;
};

// c[i * ldc + j] = Σ over p < k of a(i, p) * b(p, j) for i < m, j < n; if `accumulate`, adds to c instead. If k is 0,
// the sum is 0. Products and sums of bool are "and" and "or". T is float, double, std::complex of either, bool, or
// uint8_t to uint64_t. The unsigned types also serve signed integers, which wrap in the same way.
template <class T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc, bool accumulate);

}  // namespace shoal::internal
