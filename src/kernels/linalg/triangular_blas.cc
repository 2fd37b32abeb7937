#include "kernels/linalg/triangular_blas.h"

#include <cblas.h>

#include <limits>

namespace shoal::internal {
namespace {

struct BlasForm {
  CBLAS_SIDE side;
  CBLAS_UPLO half;
  CBLAS_TRANSPOSE op;
  CBLAS_DIAG diagonal;
  int rows, columns, n;

  explicit BlasForm(const TriangularEquation& e)
      : side(e.left ? CblasLeft : CblasRight),
        half(e.lower ? CblasLower : CblasUpper),
        op(!e.transposed ? CblasNoTrans : e.conjugated ? CblasConjTrans : CblasTrans),
        diagonal(e.unit_diagonal ? CblasUnit : CblasNonUnit),
        rows(static_cast<int>(e.left ? e.n : e.m)),
        columns(static_cast<int>(e.left ? e.m : e.n)),
        n(static_cast<int>(e.n)) {}
};

void Solve(const BlasForm& f, const float* a, float* b) {
  cblas_strsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, 1, a, f.n, b, f.columns);
}
void Solve(const BlasForm& f, const double* a, double* b) {
  cblas_dtrsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, 1, a, f.n, b, f.columns);
}
void Solve(const BlasForm& f, const std::complex<float>* a, std::complex<float>* b) {
  const std::complex<float> one = 1;
  cblas_ctrsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, &one, a, f.n, b, f.columns);
}
void Solve(const BlasForm& f, const std::complex<double>* a, std::complex<double>* b) {
  const std::complex<double> one = 1;
  cblas_ztrsm(CblasRowMajor, f.side, f.half, f.op, f.diagonal, f.rows, f.columns, &one, a, f.n, b, f.columns);
}

template <class T>
void SolveAll(const TriangularEquation& equation, const Array& a, Array& b) {
  const T* factors = a.As<T>().data();
  T* x = b.Mutable<T>().data();
  const int64_t a_size = equation.n * equation.n, b_size = equation.n * equation.m;
  const BlasForm form(equation);
  for (int64_t i = 0; i < b.count() / b_size; ++i) Solve(form, factors + i * a_size, x + i * b_size);
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

Array SolveByBlas(const TriangularEquation& equation, const Array& a, Array b) {
  if (b.type() == ElementType::kF32) SolveAll<float>(equation, a, b);
  if (b.type() == ElementType::kF64) SolveAll<double>(equation, a, b);
  if (b.type() == ElementType::kC64) SolveAll<std::complex<float>>(equation, a, b);
  if (b.type() == ElementType::kC128) SolveAll<std::complex<double>>(equation, a, b);
  return b;
}

}  // namespace shoal::internal
