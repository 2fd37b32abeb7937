// Shapes of the public API.
#pragma once

#include "core/ir/shape.h"
#include "shoal/types.h"

namespace shoal::internal {

shoal::Shape PublicShape(const Shape& shape);

}  // namespace shoal::internal
