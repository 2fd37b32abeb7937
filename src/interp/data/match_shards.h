// Finds out how an array is divided among devices when no sharding says so.
#pragma once

#include <span>
#include <string>

#include "collectives/shards.h"

namespace shoal {

// All the ways to cut an array of dimensions `whole` into shards of dimensions `shard` for that many devices, where
// each dimension is divided along groups of devices whose numbers differ in some of their digits: the orders in which
// meshes number devices. The plain order comes first. Empty if the shapes do not fit each other.
std::vector<ShardGrid> PossibleShards(Ints whole, Ints shard, int64_t devices);

// Devices that hold the same box hold the same bits.
bool Consistent(const ShardGrid& grid, std::span<const Array> shards);

// "dimension 0 over 8 devices", "replicated"
std::string DescribeShards(const ShardGrid& grid);

}  // namespace shoal
