// Cholesky factors and triangular solves. T is double or std::complex<double>; matrices are row-major.
#pragma once

#include <complex>
#include <cstdint>

#include "core/base/thread_pool.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// Replaces a with the lower triangular L for which L * L^H = a, zero above the diagonal. Reads only the lower half of
// a. If there is no such L, every element becomes NaN.
template <class T>
void Cholesky(T* a, int64_t n);

struct TriangularEquation {
  int64_t n = 0;  // a is n x n
  int64_t m = 0;  // b is n x m, or m x n if a is on the right
  bool left = true, lower = true, unit_diagonal = false, transposed = false, conjugated = false;
};

// Solves op(a) * x = b, or x * op(a) = b; x replaces b.
template <class T>
void SolveTriangular(const TriangularEquation& equation, const T* a, T* b);

// Solves for all matrices in the last two dimensions of the arrays; `equation` has their sizes. Small ones are solved
// in double and rounded once; large ones are solved in their own type.
Array SolveTriangular(const TriangularEquation& equation, const Array& a, const Array& b, ThreadPool& pool);

}  // namespace shoal::internal
