#include "kernels/linalg/triangular_blas.h"

#include <cblas.h>

#include <algorithm>
#include <limits>

#include "kernels/linalg/blas_memory.h"

namespace shoal::internal {
namespace {

struct BlasForm {
  CBLAS_SIDE side;
  CBLAS_UPLO half;
  CBLAS_TRANSPOSE op;
  CBLAS_DIAG diagonal;
  int rows, columns, n, stride;  // stride: of the rows of b

  // For `count` of the columns of b, or of its rows if a is on the right.
  BlasForm(const TriangularEquation& e, int64_t count)
      : side(e.left ? CblasLeft : CblasRight),
        half(e.lower ? CblasLower : CblasUpper),
        op(!e.transposed ? CblasNoTrans : e.conjugated ? CblasConjTrans : CblasTrans),
        diagonal(e.unit_diagonal ? CblasUnit : CblasNonUnit),
        rows(static_cast<int>(e.left ? e.n : count)),
        columns(static_cast<int>(e.left ? count : e.n)),
        n(static_cast<int>(e.n)),
        stride(static_cast<int>(e.left ? e.m : e.n)) {}
};

void Solve(const BlasForm& f, const float* a, float* b) {
  cblas_strsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, 1, a, f.n, b, f.stride);
}
void Solve(const BlasForm& f, const double* a, double* b) {
  cblas_dtrsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, 1, a, f.n, b, f.stride);
}
void Solve(const BlasForm& f, const std::complex<float>* a, std::complex<float>* b) {
  const std::complex<float> one = 1;
  cblas_ctrsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, &one, a, f.n, b, f.stride);
}
void Solve(const BlasForm& f, const std::complex<double>* a, std::complex<double>* b) {
  const std::complex<double> one = 1;
  cblas_ztrsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, &one, a, f.n, b, f.stride);
}

// Each task solves for a block of columns (or rows) of one b. The blocks depend only on the sizes.
template <class T>
void SolveAll(const TriangularEquation& equation, const Array& a, Array& b, ThreadPool& pool) {
  constexpr int64_t kMinBlock = 64, kTask = int64_t{1} << 18;  // columns; multiplications
  const T* factors = a.As<T>().data();
  T* x = b.Mutable<T>().data();
  const int64_t a_size = equation.n * equation.n, b_size = equation.n * equation.m;
  const int64_t block = std::max(kMinBlock, kTask / a_size), blocks = (equation.m + block - 1) / block;
  pool.Run(b.count() / b_size * blocks, [&](int64_t task) {
    RequireBlasMemory();
    const int64_t i = task / blocks, first = task % blocks * block;
    const BlasForm form(equation, std::min(block, equation.m - first));
    Solve(form, factors + i * a_size, x + i * b_size + first * (equation.left ? 1 : equation.n));
  });
}

}  // namespace

bool IsForBlas(const TriangularEquation& equation, ElementType type) {
  constexpr int64_t kMinWork = int64_t{1} << 18;
  if (equation.conjugated && !equation.transposed) return false;
  if (std::max(equation.n, equation.m) > std::numeric_limits<int>::max()) return false;
  if (type != ElementType::kF32 && type != ElementType::kF64 && !IsComplex(type)) return false;
  return equation.m > 0 && static_cast<double>(equation.n) * static_cast<double>(equation.n) *
                                   static_cast<double>(equation.m) >= static_cast<double>(kMinWork);
}

Array SolveByBlas(const TriangularEquation& equation, const Array& a, Array b, ThreadPool& pool) {
  if (b.type() == ElementType::kF32) SolveAll<float>(equation, a, b, pool);
  if (b.type() == ElementType::kF64) SolveAll<double>(equation, a, b, pool);
  if (b.type() == ElementType::kC64) SolveAll<std::complex<float>>(equation, a, b, pool);
  if (b.type() == ElementType::kC128) SolveAll<std::complex<double>>(equation, a, b, pool);
  return b;
}

}  // namespace shoal::internal
