// A sharding as a picture: a grid of tiles with the devices that hold each tile.
#pragma once

#include <string>

#include "core/ir/sharding.h"

namespace shoal::internal {

// Lines of text; empty for shardings without tiles, or with too many devices for a picture.
std::string ShardingPicture(const Sharding& sharding, const Shape& shape);

}  // namespace shoal::internal
