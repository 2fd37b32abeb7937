// Shardings as grids of boxes, one for each partition. Splits arrays into shards and reassembles them.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/sharding.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// A division of an array into equal boxes. The last box along a dimension is padded if it extends beyond the array.
struct ShardGrid {
  Dims tiles;                   // number of boxes along each dimension
  std::vector<Dims> positions;  // for each partition, the index of its box

  // True if every partition holds the whole array.
  bool replicated() const { return ElementCount(AsInts(tiles)) == 1; }
  static ShardGrid Replicated(int rank, int64_t partitions);
};

// The sharding of a leaf: an element of a tuple sharding, else the sharding itself. Null if there is none.
const Sharding* LeafSharding(const Sharding* sharding, int64_t leaf);

// The grid of a replicated, maximal (treated as replicated), tiled or named sharding. Several partitions may hold the
// same box. Returns nullopt if the sharding does not determine a grid (manual, unknown, unreduced), or if its number of
// partitions or dimensions differs.
std::optional<ShardGrid> ShardGridOf(const Sharding& sharding, int rank, int64_t partitions);

// ShardDims: dimensions of each box of an array. WholeDims: dimensions of an array that the boxes fill without padding.
Dims ShardDims(const ShardGrid& grid, Ints whole);
Dims WholeDims(const ShardGrid& grid, Ints shard);

// The partition's box, zero-padded beyond the end of the array.
Array ShardOf(const Array& whole, const ShardGrid& grid, int64_t partition);
// Reassembles an array with dimensions `dims` from the boxes of all partitions. If several partitions hold a box, uses
// the first of them.
Array JoinShards(std::span<const Array> shards, const ShardGrid& grid, Ints dims);

}  // namespace shoal::internal
