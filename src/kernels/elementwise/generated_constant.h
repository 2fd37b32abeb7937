// Placeholder values for literals that a dump elides.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Small numbers, each a function of its index alone.
Array GeneratedConstant(const Shape& shape);

}  // namespace shoal::internal
