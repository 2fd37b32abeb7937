// Convolutions, shared by the op convolution and the library custom calls.
#pragma once

#include "execute/interp/evaluate.h"
#include "kernels/linalg/convolution_form.h"

namespace shoal::internal {

// Convolves the first two operands of a cuDNN custom call. Omits the call's scaling, activation and rounding.
Result<Array> CudnnForwardSums(Call& call);

}  // namespace shoal::internal
