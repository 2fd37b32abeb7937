#include "kernels/linalg/triangular.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/arrays/doubles.h"
#include "kernels/arrays/transpose_square.h"
#include "kernels/linalg/triangular_blas.h"

namespace shoal::internal {
namespace {

double Conjugate(double x) { return x; }
std::complex<double> Conjugate(std::complex<double> x) { return std::conj(x); }

}  // namespace

// Works column by column. XLA uses blocks of 128 columns. In a block of more than one column, it divides each diagonal
// element by its root, which yields NaN for zero.
template <class T>
void Cholesky(T* a, int64_t n) {
  constexpr int64_t kBlock = 128;
  bool failed = false;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      T sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * Conjugate(a[j * n + k]);
      a[i * n + j] = sum;
    }
    const double root = std::sqrt(std::real(a[j * n + j]));
    failed |= std::isnan(root);
    const bool is_single_column = j % kBlock == 0 && j + 1 == n;
    if (is_single_column) a[j * n + j] = root;
    for (int64_t i = is_single_column ? j + 1 : j; i < n; ++i) a[i * n + j] /= root;
    std::fill(a + j * n + j + 1, a + (j + 1) * n, T());
  }
  if (failed) std::fill(a, a + n * n, T(std::numeric_limits<double>::quiet_NaN()));
}

namespace {

// Solves for `width` columns of b, which has n rows of m numbers; `width` sums stay in registers.
template <int64_t width, class T>
void SolveColumns(const TriangularEquation& equation, const T* a, T* b) {
  const int64_t n = equation.n, m = equation.m;
  // x * op(a) = b is op(a)^T * x^T = b^T.
  const bool transposed = equation.transposed == equation.left;
  const bool forward = equation.lower != transposed;
  auto factor = [&](int64_t i, int64_t k) {
    const T element = transposed ? a[k * n + i] : a[i * n + k];
    return equation.conjugated ? Conjugate(element) : element;
  };
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    T x[width];
    std::copy_n(b + i * m, width, x);
    for (int64_t previous = 0; previous < step; ++previous) {
      const int64_t k = forward ? previous : n - 1 - previous;
      const T f = factor(i, k);
      for (int64_t c = 0; c < width; ++c) x[c] -= f * b[k * m + c];
    }
    if (!equation.unit_diagonal) {
      const T diagonal = factor(i, i);
      for (int64_t c = 0; c < width; ++c) x[c] /= diagonal;
    }
    std::copy_n(x, width, b + i * m);
  }
}

template <class T>
void SolveRows(const TriangularEquation& equation, const T* a, T* b) {
  constexpr int64_t kWidth = 8;
  int64_t c = 0;
  for (; c + kWidth <= equation.m; c += kWidth) SolveColumns<kWidth>(equation, a, b + c);
  for (; c < equation.m; ++c) SolveColumns<1>(equation, a, b + c);
}

}  // namespace

template <class T>
void SolveTriangular(const TriangularEquation& equation, const T* a, T* b) {
  if (equation.left) return SolveRows(equation, a, b);
  std::vector<T> columns(static_cast<size_t>(equation.n * equation.m));
  TransposeMatrix(b, equation.m, equation.n, columns.data());
  SolveRows(equation, a, columns.data());
  TransposeMatrix(columns.data(), equation.n, equation.m, b);
}

namespace {

template <class Number>
Array SolveAs(const TriangularEquation& equation, const Array& a, const Array& b, ThreadPool& pool) {
  const std::vector<Number> factors = ToNumbers<Number>(a);
  std::vector<Number> numbers = ToNumbers<Number>(b);
  const int64_t a_size = equation.n * equation.n, b_size = equation.n * equation.m;
  constexpr int64_t kTask = int64_t{1} << 15;  // multiplications
  const int64_t count = b_size == 0 ? 0 : b.count() / b_size, work = std::max<int64_t>(1, equation.n * b_size);
  ForBlocks(pool, count, std::max<int64_t>(1, kTask / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) SolveTriangular(equation, factors.data() + i * a_size, numbers.data() + i * b_size);
  });
  return FromNumbers(b.type(), b.dims(), numbers);
}

}  // namespace

Array SolveTriangular(const TriangularEquation& equation, const Array& a, const Array& b, ThreadPool& pool) {
  if (IsForBlas(equation, b.type())) return SolveByBlas(equation, a, b, pool);
  return IsComplex(a.type()) ? SolveAs<std::complex<double>>(equation, a, b, pool) : SolveAs<double>(equation, a, b, pool);
}

template void Cholesky(double* a, int64_t n);
template void Cholesky(std::complex<double>* a, int64_t n);
template void SolveTriangular(const TriangularEquation& equation, const double* a, double* b);
template void SolveTriangular(const TriangularEquation& equation, const std::complex<double>* a,
                              std::complex<double>* b);

}  // namespace shoal::internal
