// Convolutions, shared by the op convolution and the library custom calls.
#pragma once

#include "execute/interp/evaluate.h"
#include "kernels/linalg/convolution_form.h"

namespace shoal::internal {

// Convolves the first two operands of a cuDNN custom call, without its scaling, activation or rounding.
Result<Array> CudnnForwardSums(Call& call);

}  // namespace shoal::internal
