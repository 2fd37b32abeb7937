// Convolutions, for the op and for the libraries' calls.
#pragma once

#include "execute/interp/evaluate.h"
#include "kernels/linalg/convolution_form.h"

namespace shoal::internal {

// The convolution of a custom call's first two operands, before it is scaled, activated or rounded.
Result<Array> CudnnForwardSums(Call& call);

}  // namespace shoal::internal
