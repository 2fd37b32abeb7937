// Placeholder values for literals that a dump elides.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Small numbers that depend only on their index.
Array GeneratedConstant(const Shape& shape);

}  // namespace shoal::internal
