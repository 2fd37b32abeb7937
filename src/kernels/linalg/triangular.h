// Triangular factors of matrices and equations with them. T is double or std::complex<double>; matrices are row-major.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// The lower triangular L with L * L^H = a, in place of a, zero above the diagonal; only the lower half of `a` is read.
// Every element is NaN if there is none.
template <class T>
void Cholesky(T* a, int64_t n);

struct TriangularEquation {
  int64_t n = 0;  // a is n x n
  int64_t m = 0;  // b is n x m, or m x n where a stands on the right
  bool left = true, lower = true, unit_diagonal = false, transposed = false, conjugated = false;
};

// The x with op(a) * x = b, or x * op(a) = b, in place of b.
template <class T>
void SolveTriangular(const TriangularEquation& equation, const T* a, T* b);

// The same for all matrices in the last two dimensions of arrays, which the equation fits: small ones in double, rounded
// once, large ones in their own type.
Array SolveTriangular(const TriangularEquation& equation, const Array& a, const Array& b);

}  // namespace shoal::internal
