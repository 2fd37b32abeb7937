// Shardings as places: which part of a whole array each partition holds, how to cut it out, and how to put the whole
// together again.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/sharding.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// An array cut into equal boxes; of the last along a dimension, what lies beyond the array's end is padding.
struct ShardGrid {
  Dims tiles;                   // boxes along each dimension
  std::vector<Dims> positions;  // of each partition: the index of its box

  // Every partition holds the whole array.
  bool replicated() const { return ElementCount(AsInts(tiles)) == 1; }
  static ShardGrid Replicated(int rank, int64_t partitions);
};

// The sharding of one of the leaves of a shape: an element of a tuple's. Null if there is none.
const Sharding* LeafSharding(const Sharding* sharding, int64_t leaf);

// Of replicated, maximal (which everybody holds), tiled and named shardings, with or without groups of partitions that
// hold the same. Nothing where the sharding does not say (manual, unknown, unreduced) or is about another number of
// partitions or dimensions.
std::optional<ShardGrid> ShardGridOf(const Sharding& sharding, int rank, int64_t partitions);

// The size of each box of a whole array, and of the smallest whole that such boxes make.
Dims ShardDims(const ShardGrid& grid, Ints whole);
Dims WholeDims(const ShardGrid& grid, Ints shard);

// The partition's box; zeros where it reaches beyond the array.
Array ShardOf(const Array& whole, const ShardGrid& grid, int64_t partition);
// The whole array of dimensions `dims` from the boxes, one for each partition; of those that hold the same box, the
// first counts.
Array JoinShards(std::span<const Array> shards, const ShardGrid& grid, Ints dims);

}  // namespace shoal::internal
