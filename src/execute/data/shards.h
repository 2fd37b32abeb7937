// Shardings as grids: the part of an array that each partition holds. Splits arrays into shards and reassembles them.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/sharding.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// A division of an array into equal boxes. The last box along a dimension is padded if it extends beyond the array.
struct ShardGrid {
  Dims tiles;                   // boxes along each dimension
  std::vector<Dims> positions;  // by partition: the index of its box

  // True if every partition holds the whole array.
  bool replicated() const { return ElementCount(AsInts(tiles)) == 1; }
  static ShardGrid Replicated(int rank, int64_t partitions);
};

// The sharding of a leaf: an element of a tuple sharding, else the sharding itself. Null if there is none.
const Sharding* LeafSharding(const Sharding* sharding, int64_t leaf);

// The grid of a replicated, maximal (treated as replicated), tiled or named sharding; boxes may have several copies.
// Returns nullopt if the sharding does not determine one (manual, unknown, unreduced), or has a different number of
// partitions or dimensions.
std::optional<ShardGrid> ShardGridOf(const Sharding& sharding, int rank, int64_t partitions);

// ShardDims: dimensions of each box of an array. WholeDims: dimensions of an array that boxes fill without padding.
Dims ShardDims(const ShardGrid& grid, Ints whole);
Dims WholeDims(const ShardGrid& grid, Ints shard);

// The partition's box, zero-padded beyond the end of the array.
Array ShardOf(const Array& whole, const ShardGrid& grid, int64_t partition);
// Reassembles an array with dimensions `dims` from one box per partition. If several partitions hold a box, the first
// one is used.
Array JoinShards(std::span<const Array> shards, const ShardGrid& grid, Ints dims);

}  // namespace shoal::internal
