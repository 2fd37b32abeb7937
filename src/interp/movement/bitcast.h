// Bitcasts, which see memory through another layout. Arrays here are row-major, so elements may have to move.
#pragma once

#include "ir/shape.h"

namespace shoal {

// Whether no element moves: both layouts have elements in the same order that row-major arrays of these shapes have.
bool IsReshape(const Shape& from, const Shape& to);

}  // namespace shoal
