// The grid of replicas and partitions of a run, and the devices that participate in each collective.
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

// IdBound returns the largest id in the groups plus one, without expanding an iota or a mesh. The result is capped at
// kMaxIds, so that products of counts do not overflow.
inline constexpr int64_t kMaxIds = INT32_MAX;
int64_t IdBound(const ReplicaGroups& groups);
int64_t DevicesNamedBy(const TileAssignment& tiles);

// Device ids in member order. The parts of a gathered or scattered array have the same order.
using DeviceGroup = std::vector<int64_t>;

// Returns the groups of a collective with replica_groups. Every device is in exactly one group, but a
// collective-broadcast may omit devices. Fails if the groups are invalid for the grid.
Result<std::vector<DeviceGroup>> DeviceGroupsOf(const Instruction& hlo, const DeviceGrid& grid);

// A source and a target device. DevicePairsOf returns the pairs of a collective-permute, or of a send or recv with
// _xla_send_recv_source_target_pairs, in text order.
using DevicePair = std::pair<int64_t, int64_t>;
Result<std::vector<DevicePair>> DevicePairsOf(const Instruction& hlo, const DeviceGrid& grid);
// Returns the kind of the ids in the pairs: partition ids if the op has a channel_id, else replica ids.
GroupMode PairModeOf(const Instruction& hlo);
// True if the op has source-target pairs, which are optional for send and recv.
bool HasSourceTargetPairs(const Instruction& hlo);

}  // namespace shoal::internal
