// Applies a function of scalars to arrays, element by element.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// True if the function consists of elementwise ops and constants, so that it can be applied to arrays.
bool IsElementwiseFunction(const Computation& function);

// Appends the ops of the function to `computation`, on arrays with the dimensions of the first argument. Returns the
// result. Precondition: IsElementwiseFunction; the arguments have equal dimensions and the types of the parameters.
Instruction* ApplyToArrays(const Computation& function, std::span<Instruction* const> arguments, Module& module,
                           Computation& computation, const Instruction& instead_of);

}  // namespace shoal::internal
