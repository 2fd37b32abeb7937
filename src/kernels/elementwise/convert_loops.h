// Loops that change the type or the precision of elements.
#pragma once

#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {

ElementLoop ReducePrecisionKernel(const Instruction& hlo);
ElementLoop StochasticConvertKernel(const Instruction& hlo);

// Cuts integers below a byte to their width, in place: sign- or zero-extended.
void WrapNarrowInts(ElementType type, std::byte* data, int64_t n);

}  // namespace shoal::internal
