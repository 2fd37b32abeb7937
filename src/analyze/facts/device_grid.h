// The devices of a run, and which of them a collective participants.
#pragma once

#include <vector>

#include "core/ops/collective.h"

namespace shoal::internal {

// A device is a replica and a partition; its id is replica * partitions + partition.
struct DeviceGrid {
  int64_t replicas = 1;
  int64_t partitions = 1;

  int64_t count() const { return replicas * partitions; }
  int64_t ReplicaOf(int64_t device) const { return device / partitions; }
  int64_t PartitionOf(int64_t device) const { return device % partitions; }
  int64_t DeviceAt(int64_t replica, int64_t partition) const { return replica * partitions + partition; }
  bool operator==(const DeviceGrid&) const = default;
};

// One more than the largest id that the groups name, without listing what an iota or a mesh stands for; at most
// kMaxIds, so that counts can be multiplied.
inline constexpr int64_t kMaxIds = INT32_MAX;
int64_t IdBound(const ReplicaGroups& groups);
int64_t DevicesNamedBy(const TileAssignment& tiles);

// Device ids, in the order in which the group's members stand: result parts are laid out in it.
using DeviceGroup = std::vector<int64_t>;

// The groups of a collective with replica_groups, every device in exactly one (of a collective-broadcast: in at most
// one). A failure names what does not fit.
Result<std::vector<DeviceGroup>> DeviceGroupsOf(const Instruction& hlo, const DeviceGrid& grid);

// (source, target) device ids of a collective-permute, or of a send or recv whose frontend attributes name them; in the
// order of the text.
using DevicePair = std::pair<int64_t, int64_t>;
Result<std::vector<DevicePair>> DevicePairsOf(const Instruction& hlo, const DeviceGrid& grid);
// What the ids of the pairs are: partitions with a channel_id, else replicas.
GroupMode PairModeOf(const Instruction& hlo);
// A send or recv may leave them out.
bool HasSourceTargetPairs(const Instruction& hlo);

}  // namespace shoal::internal
