// The devices of a run, and the devices that participate in a collective.
#pragma once

#include <vector>

#include "core/ops/collective.h"

namespace shoal::internal {

// A device is a pair of a replica and a partition. Its id is replica * partitions + partition.
struct DeviceGrid {
  int64_t replicas = 1;
  int64_t partitions = 1;

  int64_t count() const { return replicas * partitions; }
  int64_t ReplicaOf(int64_t device) const { return device / partitions; }
  int64_t PartitionOf(int64_t device) const { return device % partitions; }
  int64_t DeviceAt(int64_t replica, int64_t partition) const { return replica * partitions + partition; }
  bool operator==(const DeviceGrid&) const = default;
};

// IdBound returns one more than the largest id in the groups, without expanding an iota or a mesh. The result is at
// most kMaxIds, so that products of counts do not overflow.
inline constexpr int64_t kMaxIds = INT32_MAX;
int64_t IdBound(const ReplicaGroups& groups);
int64_t DevicesNamedBy(const TileAssignment& tiles);

// Device ids in member order, which is the order of the members' parts in the result.
using DeviceGroup = std::vector<int64_t>;

// The groups of a collective with replica_groups. Every device is in exactly one group (for a collective-broadcast in
// at most one). Fails if the groups are invalid for the grid.
Result<std::vector<DeviceGroup>> DeviceGroupsOf(const Instruction& hlo, const DeviceGrid& grid);

// (source, target) device ids of a collective-permute, or of a send or recv with the equivalent frontend attribute, in
// text order.
using DevicePair = std::pair<int64_t, int64_t>;
Result<std::vector<DevicePair>> DevicePairsOf(const Instruction& hlo, const DeviceGrid& grid);
// The meaning of the ids in the pairs: partitions if there is a channel_id, else replicas.
GroupMode PairModeOf(const Instruction& hlo);
// Source-target pairs are optional for send and recv.
bool HasSourceTargetPairs(const Instruction& hlo);

}  // namespace shoal::internal
