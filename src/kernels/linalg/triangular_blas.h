// Large triangular equations in their own type, by BLAS.
#pragma once

#include "kernels/linalg/triangular.h"

namespace shoal::internal {

// True if SolveByBlas applies: enough work for blocking to pay off, and a type and an op(a) that BLAS supports.
bool IsForBlas(const TriangularEquation& equation, ElementType type);

// Like SolveTriangular for arrays. Requires that IsForBlas is true.
Array SolveByBlas(const TriangularEquation& equation, const Array& a, Array b, ThreadPool& pool);

}  // namespace shoal::internal
