#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// The dimensions of a reshape's result. Dynamic dimensions may be smaller than their bound.
Dims ReshapedDims(const Array& operand, const Shape& from, const Shape& to);

}  // namespace shoal::internal
