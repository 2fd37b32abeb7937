#include "execute/data/shards.h"

#include <algorithm>

#include "core/ir/sizes.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

using Kind = Sharding::Kind;

// Converts the linear index `n` to a multi-dimensional index.
Dims Unravel(int64_t n, Ints dims) {
  Dims index(dims.size());
  for (size_t d = dims.size(); d-- > 0; n /= dims[d]) index[d] = n % dims[d];
  return index;
}

std::optional<ShardGrid> TiledGrid(const Sharding& sharding, int rank, int64_t partitions) {
  const auto& dims = sharding.tiles.dims;
  const std::vector<int64_t> devices = sharding.tiles.Devices();
  const int64_t groups = std::ssize(sharding.last_tile_dims) + (sharding.replicate_last_dim ? 1 : 0);
  if (std::ssize(dims) - groups != rank || std::ssize(devices) != partitions) return std::nullopt;
  ShardGrid grid{Dims(dims.begin(), dims.begin() + rank), std::vector<Dims>(devices.size())};
  for (size_t n = 0; n < devices.size(); ++n) {
    if (devices[n] < 0 || devices[n] >= partitions) return std::nullopt;
    Dims index = Unravel(static_cast<int64_t>(n), dims);
    index.resize(static_cast<size_t>(rank));
    grid.positions[static_cast<size_t>(devices[n])] = index;
  }
  return grid;
}

// The device's coordinate along the axis or sub-axis that `ref` denotes.
int64_t Coordinate(const AxisRef& ref, const Mesh& mesh, Ints coordinates) {
  const auto axis = static_cast<size_t>(ref.axis);
  if (!ref.sub) return coordinates[axis];
  const int64_t minor = mesh.devices.dims[axis] / std::max<int64_t>(1, ref.sub->pre_size * ref.sub->size);
  return coordinates[axis] / std::max<int64_t>(1, minor) % ref.sub->size;
}

std::optional<ShardGrid> NamedGrid(const Sharding& sharding, int rank, int64_t partitions) {
  if (!sharding.mesh || sharding.mesh->maximal) return ShardGrid::Replicated(rank, partitions);
  const Mesh& mesh = *sharding.mesh;
  ShardGrid grid{Dims(static_cast<size_t>(rank), 1), {}};
  if (std::ssize(sharding.dimensions) > rank) return std::nullopt;
  for (size_t d = 0; d < sharding.dimensions.size(); ++d)
    for (const AxisRef& ref : sharding.dimensions[d].axes) grid.tiles[d] *= ref.Size(mesh);
  if (grid.replicated()) return ShardGrid::Replicated(rank, partitions);

  const std::vector<int64_t> devices = mesh.devices.Devices();
  if (std::ssize(devices) != partitions) return std::nullopt;
  grid.positions.resize(devices.size());
  for (size_t n = 0; n < devices.size(); ++n) {
    if (devices[n] < 0 || devices[n] >= partitions) return std::nullopt;
    const Dims coordinates = Unravel(static_cast<int64_t>(n), mesh.devices.dims);
    Dims position(static_cast<size_t>(rank), 0);
    for (size_t d = 0; d < sharding.dimensions.size(); ++d)
      for (const AxisRef& ref : sharding.dimensions[d].axes)
        position[d] = position[d] * ref.Size(mesh) + Coordinate(ref, mesh, AsInts(coordinates));
    grid.positions[static_cast<size_t>(devices[n])] = position;
  }
  return grid;
}

// A box along one dimension of an array: its offset, and the size of its part inside the array.
struct Box {
  int64_t offset = 0;  // in elements along the dimension
  Dims sizes;
};

Box BoxOf(const ShardGrid& grid, int64_t partition, Ints whole, Ints shard) {
  const Dims strides = RowMajorStrides(whole);
  Box box;
  for (size_t d = 0; d < whole.size(); ++d) {
    const int64_t start = std::min(grid.positions[static_cast<size_t>(partition)][d] * shard[d], whole[d]);
    box.offset += start * strides[d];
    box.sizes.push_back(std::min(shard[d], whole[d] - start));
  }
  return box;
}

}  // namespace

ShardGrid ShardGrid::Replicated(int rank, int64_t partitions) {
  const Dims ones(static_cast<size_t>(rank), 1), zeros(static_cast<size_t>(rank), 0);
  return {ones, std::vector<Dims>(static_cast<size_t>(partitions), zeros)};
}

const Sharding* LeafSharding(const Sharding* sharding, int64_t leaf) {
  if (sharding == nullptr || sharding->kind != Kind::kTuple) return sharding;
  return leaf < std::ssize(sharding->elements) ? &sharding->elements[static_cast<size_t>(leaf)] : nullptr;
}

std::optional<ShardGrid> ShardGridOf(const Sharding& sharding, int rank, int64_t partitions) {
  if (sharding.kind == Kind::kReplicated || sharding.kind == Kind::kMaximal)
    return ShardGrid::Replicated(rank, partitions);
  std::optional<ShardGrid> grid;
  if (sharding.kind == Kind::kTiled) grid = TiledGrid(sharding, rank, partitions);
  if (sharding.kind == Kind::kNamed) grid = NamedGrid(sharding, rank, partitions);
  // If the device list has a duplicate, some other device has no box.
  auto has_none = [&](const Dims& position) { return std::ssize(position) != rank; };
  if (grid && std::ranges::any_of(grid->positions, has_none)) return std::nullopt;
  return grid;
}

Dims ShardDims(const ShardGrid& grid, Ints whole) {
  Dims dims;
  for (size_t d = 0; d < whole.size(); ++d) dims.push_back(CeilDiv(whole[d], grid.tiles[d]));
  return dims;
}

Dims WholeDims(const ShardGrid& grid, Ints shard) {
  Dims dims;
  for (size_t d = 0; d < shard.size(); ++d) dims.push_back(SaturatingMul(shard[d], grid.tiles[d]));
  return dims;
}

Array ShardOf(const Array& whole, const ShardGrid& grid, int64_t partition) {
  if (grid.replicated()) return whole;
  const Dims dims = ShardDims(grid, whole.dims());
  const Box box = BoxOf(grid, partition, whole.dims(), AsInts(dims));
  Array shard = Array::Zeros(whole.type(), AsInts(dims));
  CopyStrided(AsInts(box.sizes), whole.element_bytes(), shard.mutable_data(), {0, RowMajorStrides(AsInts(dims))},
              whole.data(), {box.offset, RowMajorStrides(whole.dims())});
  return shard;
}

Array JoinShards(std::span<const Array> shards, const ShardGrid& grid, Ints dims) {
  if (grid.replicated()) return shards[0];
  Array whole = Array::Zeros(shards[0].type(), dims);
  for (size_t partition = shards.size(); partition-- > 0;) {
    const Array& shard = shards[partition];
    const Box box = BoxOf(grid, static_cast<int64_t>(partition), dims, shard.dims());
    CopyStrided(AsInts(box.sizes), whole.element_bytes(), whole.mutable_data(), {box.offset, RowMajorStrides(dims)},
                shard.data(), {0, RowMajorStrides(shard.dims())});
  }
  return whole;
}

}  // namespace shoal::internal
