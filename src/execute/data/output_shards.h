// Infers how the results of a module are divided among the devices of its partitioned form. The inference never
// inspects values, so that a comparison detects shards in the wrong order.
#pragma once

#include <string>

#include "analyze/facts/device_grid.h"
#include "execute/data/shards.h"
#include "execute/data/leaves.h"

namespace shoal::internal {

// Shards with dimensions `shard` in row-major device order, with copies of a shard on consecutive devices, as in a
// plain tiled sharding. Returns nullopt if `shard` cannot be a shard of `whole`.
std::optional<ShardGrid> DefaultShards(Ints whole, Ints shard, int64_t devices);

// The shards as text: "dimension 0 in 8 parts", "replicated".
std::string DescribeShards(const ShardGrid& grid);

// The shards of every device, as specified by the sharding. Nullopt if it is null or does not match the shapes.
std::optional<ShardGrid> ShardsByAnnotation(const Sharding* sharding, Ints whole, Ints shard, const DeviceGrid& grid);

struct InferredShards {
  ShardGrid grid;
  std::string source;  // "by the sharding of t.3", "in device order, since no sharding specifies it"
  bool is_guess = false;
  std::vector<ShardGrid> other_orders = {};  // if it is a guess: the same shards in other orders of the devices
};

// A module that is not partitioned, its partitioned form, and the shards of the parameters' leaves if known.
struct PartitionedPair {
  const Module& whole;
  const Module& parts;
  DeviceGrid grid;
  std::vector<std::optional<ShardGrid>> parameters;
  const Module* shardings = nullptr;  // a module whose results have shardings, which are used first; null: none
};

// Infers the shards of leaf number `leaf` of the results, which has dimensions `whole` in one module and `shard` in the
// other. Uses the first available source: the result's sharding in the module `shardings`; in the partitioned module; in
// the whole module; the parameter with which it is aliased in the partitioned module; shardings of the values in the
// whole module from which its dimensions derive; the mesh axes, if only one choice yields the number of parts; device
// order, which is a guess. Returns nullopt if the shapes do not match.
std::optional<InferredShards> OutputShards(const PartitionedPair& pair, size_t leaf, Ints whole, Ints shard);

}  // namespace shoal::internal
