// Loops that change the type or the precision of elements.
#pragma once

#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {

ElementLoop ElementLoopForReducePrecision(const Instruction& hlo);
ElementLoop ElementLoopForStochasticConvert(const Instruction& hlo);

// Truncates integers narrower than a byte to their width, in place, and sign- or zero-extends them.
void WrapNarrowInts(ElementType type, std::byte* data, int64_t n);

}  // namespace shoal::internal
