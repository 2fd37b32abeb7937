// Large triangular equations in their own type, by BLAS.
#pragma once

#include "kernels/linalg/triangular.h"

namespace shoal::internal {

// Whether SolveByBlas does it: enough work that blocks pay, a type that BLAS has, a form of op(a) that it knows.
bool IsForBlas(const TriangularEquation& equation, ElementType type);

// As SolveTriangular of arrays.
Array SolveByBlas(const TriangularEquation& equation, const Array& a, Array b);

}  // namespace shoal::internal
