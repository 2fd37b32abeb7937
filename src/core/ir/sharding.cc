#include "core/ir/sharding.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace shoal::internal {
namespace {

using Kind = Sharding::Kind;

// The sort order of subgroups. Replicated ones come late: their devices are sorted, which only the last dimension
// allows.
constexpr Kind kSubgroupOrder[] = {Kind::kMaximal,   Kind::kTuple,      Kind::kTiled,  Kind::kManual,
                                   Kind::kUnreduced, Kind::kReplicated, Kind::kUnknown};

TileAssignment FromIota(IotaTiles iota) {
  std::vector<int64_t> dims = iota.dims;
  return {std::move(dims), std::move(iota), {}};
}

TileAssignment Reshaped(TileAssignment tiles, std::vector<int64_t> dims) {
  if (tiles.iota) tiles.iota->dims = dims;
  tiles.dims = std::move(dims);
  return tiles;
}

// Permutes the dimensions of `devices`, an array with dimensions `dims`.
std::vector<int64_t> TransposedDevices(const std::vector<int64_t>& devices, const std::vector<int64_t>& dims,
                                       const std::vector<int>& order) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  std::vector<int64_t> offsets{0};
  for (int dim : order) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(dims[dim]));
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < dims[dim]; ++i) next.push_back(offset + i * strides[dim]);
    offsets = std::move(next);
  }
  for (int64_t& offset : offsets) offset = devices[offset];
  return offsets;
}

TileAssignment Transposed(const TileAssignment& tiles, const std::vector<int>& order) {
  if (tiles.iota)
    if (auto iota = tiles.iota->Transposed(order)) return FromIota(*std::move(iota));
  std::vector<int64_t> dims;
  for (int dim : order) dims.push_back(tiles.dims[dim]);
  return {std::move(dims), std::nullopt, TransposedDevices(tiles.Devices(), tiles.dims, order)};
}

// The iota with every `group` consecutive devices sorted; nullopt if a group splits a dimension unevenly.
std::optional<IotaTiles> WithSortedGroups(const IotaTiles& iota, int64_t group) {
  std::vector<int64_t> reshape = iota.reshape;
  std::vector<int> perm = iota.perm;
  size_t first = perm.size();  // the dimensions starting at perm[first] form the group
  while (group > 1) {
    if (first == 0) return std::nullopt;
    const int dim = perm[--first];
    const int64_t size = reshape[dim];
    if (std::max(size, group) % std::min(size, group) != 0) return std::nullopt;
    if (size <= group) {
      group /= size;
      continue;
    }
    // Only the minor part of this dimension belongs to the group: split the dimension.
    reshape[dim] = size / group;
    reshape.insert(reshape.begin() + dim + 1, group);
    for (int& p : perm) p += p > dim;
    perm.insert(perm.begin() + static_cast<ptrdiff_t>(++first), dim + 1);
    break;
  }
  std::sort(perm.begin() + static_cast<ptrdiff_t>(first), perm.end());
  return IotaTiles::Canonical(iota.dims, std::move(reshape), std::move(perm));
}

// Replicas are interchangeable, so those along the last dimension are kept in ascending order.
TileAssignment WithSortedReplicas(TileAssignment tiles) {
  const int64_t group = tiles.dims.back();
  if (tiles.iota)
    if (auto iota = WithSortedGroups(*tiles.iota, group)) return FromIota(*std::move(iota));
  std::vector<int64_t> devices = tiles.Devices();
  for (auto at = devices.begin(); at != devices.end(); at += group) std::sort(at, at + group);
  return {std::move(tiles.dims), std::nullopt, std::move(devices)};
}

struct Subgroups {
  TileAssignment tiles;
  std::vector<Kind> types;  // types of the last dimensions
};

// Merges the subgroups into one dimension per type, sorted. Drops dimensions of size 1.
Subgroups Merged(const Subgroups& groups) {
  const auto& [tiles, types] = groups;
  const size_t data_rank = tiles.dims.size() - types.size();
  std::vector<int> order(data_rank);
  std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> dims(tiles.dims.begin(), tiles.dims.begin() + static_cast<ptrdiff_t>(data_rank));
  std::vector<Kind> remaining;
  for (Kind type : kSubgroupOrder) {
    int64_t size = 1;
    for (size_t i = 0; i < types.size(); ++i) {
      const size_t dim = data_rank + i;
      if (types[i] != type || tiles.dims[dim] == 1) continue;
      order.push_back(static_cast<int>(dim));
      size *= tiles.dims[dim];
    }
    if (size == 1) continue;
    dims.push_back(size);
    remaining.push_back(type);
  }
  for (size_t dim = data_rank; dim < tiles.dims.size(); ++dim)
    if (tiles.dims[dim] == 1) order.push_back(static_cast<int>(dim));
  return {Reshaped(Transposed(tiles, order), std::move(dims)), std::move(remaining)};
}

// True if no data dimension is divided and all subgroups have the same type, one of `kinds`.
bool HasOnlySubgroupsOf(std::initializer_list<Kind> kinds, const Subgroups& groups) {
  const auto& [tiles, types] = groups;
  if (types.empty() || std::find(kinds.begin(), kinds.end(), types[0]) == kinds.end()) return false;
  const auto data_end = tiles.dims.end() - std::ssize(types);
  return std::count(types.begin(), types.end(), types[0]) == std::ssize(types) &&
         std::all_of(tiles.dims.begin(), data_end, [](int64_t dim) { return dim == 1; });
}

}  // namespace

Sharding Sharding::Tiled(TileAssignment tiles, std::vector<Kind> types, std::vector<Metadata> metadata) {
  Sharding result;
  result.kind = Kind::kTiled;
  result.metadata = std::move(metadata);
  if (types.empty()) {
    result.tiles = std::move(tiles);
    return result;
  }
  Subgroups groups{std::move(tiles), std::move(types)};
  if (HasOnlySubgroupsOf({Kind::kManual, Kind::kReplicated, Kind::kUnreduced}, groups)) {
    result.kind = groups.types[0];
    return result;
  }
  groups = Merged(groups);
  // XLA keeps [1,4] last_tile_dims={unreduced} if it appears only after merging.
  if (HasOnlySubgroupsOf({Kind::kManual, Kind::kReplicated}, groups)) {
    result.kind = groups.types[0];
    return result;
  }
  const bool replicated = !groups.types.empty() && groups.types.back() == Kind::kReplicated;
  result.tiles = replicated ? WithSortedReplicas(std::move(groups.tiles)) : std::move(groups.tiles);
  result.replicate_last_dim = replicated && groups.types.size() == 1;
  if (!result.replicate_last_dim) result.last_tile_dims = std::move(groups.types);
  return result;
}

Sharding Sharding::ForShape(Sharding sharding, const Shape& shape) {
  if (!shape.IsTuple() || sharding.kind == Kind::kTuple) return sharding;
  // A tuple without leaves still has one sharding.
  const int64_t leaves = std::max<int64_t>(shape.LeafCount(), 1);
  Sharding tuple;
  tuple.kind = Kind::kTuple;
  tuple.elements.assign(static_cast<size_t>(leaves), sharding);
  return tuple;
}

void Sharding::ExtractReductionOp() {
  if (kind == Kind::kNamed) return;  // its syntax includes the reduction
  for (const Metadata& entry : metadata) {
    if (entry.op_type != kReductionOpType) continue;
    reduction = ReductionOp::kSum;
    if (entry.op_name == "MAX") reduction = ReductionOp::kMax;
    if (entry.op_name == "MIN") reduction = ReductionOp::kMin;
  }
}

}  // namespace shoal::internal
