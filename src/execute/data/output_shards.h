// How the results of a module are divided among the devices of its partitioned form. Never by looking at values: a
// partitioning that puts its shards in the wrong order must be seen.
#pragma once

#include <string>

#include "analyze/facts/device_grid.h"
#include "execute/data/shards.h"
#include "execute/data/leaves.h"

namespace shoal::internal {

// Shards of dimensions `shard` in the order of the devices, dimension by dimension, copies of a shard side by side: how
// a plain tiled sharding numbers them. Nothing if the shapes do not fit each other.
std::optional<ShardGrid> DefaultShards(Ints whole, Ints shard, int64_t devices);

// "dimension 0 in 8 parts", "replicated"
std::string DescribeShards(const ShardGrid& grid);

// What the sharding says, for every device, if it fits the shapes. Null: nothing.
std::optional<ShardGrid> ShardsByAnnotation(const Sharding* sharding, Ints whole, Ints shard, const DeviceGrid& grid);

struct InferredShards {
  ShardGrid grid;
  std::string by;  // "by the sharding of t.3", "in the order of the devices, since nothing says otherwise"
};

// A module that is not partitioned, its partitioned form, and how the leaves of the parameters are divided, where that
// is known.
struct PartitionedPair {
  const Module& whole;
  const Module& parts;
  DeviceGrid grid;
  std::vector<std::optional<ShardGrid>> parameters;
};

// How leaf number `leaf` of the results is divided; its dimensions in the one module and in the other. By, in this
// order: the sharding of the result in the partitioned module, the parameter it is aliased with there; what the whole
// module says about the result, or about the values along whose dimensions its dimensions run; the only axes of the
// module's mesh that make as many parts; the order of the devices. Nothing if the shapes do not fit each other.
std::optional<InferredShards> OutputShards(const PartitionedPair& pair, size_t leaf, Ints whole, Ints shard);

}  // namespace shoal::internal
