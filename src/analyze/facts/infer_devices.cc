#include "analyze/facts/infer_devices.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/module_shardings.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

// The largest number of ids that an attribute implies, and a description of this attribute.
struct MaxId {
  int64_t count = 1;
  std::string from;

  void Update(int64_t new_count, std::string_view attr, std::string_view instruction) {
    if (new_count <= count) return;
    count = new_count;
    from = StrCat(attr, " of ", instruction);
  }
};

struct IdCounts {
  MaxId replicas, partitions, devices, sharded;

  MaxId& Of(GroupMode mode) {
    if (mode == GroupMode::kFlattenedId) return devices;
    return mode == GroupMode::kCrossPartition ? partitions : replicas;
  }
};

int64_t DeviceCountOf(const Sharding& sharding) {
  int64_t count = 0;
  for (const Sharding& element : sharding.elements) count = std::max(count, DeviceCountOf(element));
  if (sharding.mesh) return std::max(count, DevicesNamedBy(sharding.mesh->devices));
  const bool names = sharding.kind == Sharding::Kind::kTiled || sharding.kind == Sharding::Kind::kMaximal;
  return names ? std::max(count, DevicesNamedBy(sharding.tiles)) : count;
}

void CountCollectiveIds(const Instruction& hlo, IdCounts& ids) {
  if (const ReplicaGroups* groups = hlo[kReplicaGroups]; groups != nullptr && !groups->empty())
    if (const Result<GroupMode> mode = GroupModeOf(hlo); mode.ok())
      ids.Of(*mode).Update(IdBound(*groups), "replica_groups", hlo.name);
  if (!HasSourceTargetPairs(hlo)) return;
  // Resolve the pairs in a grid where every id is valid and equals its device id.
  const DeviceGrid unbounded =
      PairModeOf(hlo) == GroupMode::kCrossReplica ? DeviceGrid{kMaxIds, 1} : DeviceGrid{1, kMaxIds};
  const Result<std::vector<DevicePair>> pairs = DevicePairsOf(hlo, unbounded);
  if (!pairs.ok()) return;
  for (auto [source, target] : *pairs)
    ids.Of(PairModeOf(hlo)).Update(std::max(source, target) + 1, "source-target pairs", hlo.name);
}

IdCounts CountIds(const Module& module) {
  IdCounts ids;
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      CountCollectiveIds(*hlo, ids);
    }
  }
  ForEachSharding(module, [&](const Sharding& sharding, const Instruction& hlo) {
    ids.sharded.Update(DeviceCountOf(sharding), "sharding", hlo.name);
  });
  return ids;
}

std::string FormatGrid(const DeviceGrid& grid) {
  std::string devices = StrCat(grid.count(), grid.count() == 1 ? " device" : " devices");
  if (grid.replicas == 1 || grid.partitions == 1) return devices;
  return StrCat(devices, " (", grid.replicas, " replicas of ", grid.partitions, " partitions)");
}

}  // namespace

InferredGrid InferDevices(const Module& module, std::optional<int64_t> num_replicas,
                          std::optional<int64_t> num_partitions) {
  DeviceGrid grid;
  std::vector<std::string> reasons;
  if (num_replicas || num_partitions) reasons.push_back("as requested");
  const bool header = module.replica_count > 1 || module.num_partitions > 1;
  if (header) {
    // A header may declare an unknown count as 0 or less.
    auto clamped = [](int64_t count) { return std::clamp<int64_t>(count, 1, kMaxIds); };
    grid = {clamped(module.replica_count), clamped(module.num_partitions)};
    if (!num_replicas || !num_partitions) reasons.push_back("from the header");
  } else {
    const IdCounts ids = CountIds(module);
    auto raise_to = [&](int64_t& count, const MaxId& max_id, int64_t divisor) {
      const int64_t required = CeilDiv(max_id.count, divisor);
      if (required <= count) return;
      count = required;
      reasons.push_back(StrCat("from ", max_id.from));
    };
    const int64_t replicas = num_replicas.value_or(0), partitions = num_partitions.value_or(0);
    if (!num_replicas) raise_to(grid.replicas, ids.replicas, 1);
    if (!num_partitions) raise_to(grid.partitions, ids.partitions, 1);
    // A device id combines a replica and a partition. Increase the partitions, because usually there is one replica.
    if (!num_partitions) {
      raise_to(grid.partitions, ids.devices, num_replicas ? std::max<int64_t>(replicas, 1) : grid.replicas);
    } else if (!num_replicas) {
      raise_to(grid.replicas, ids.devices, std::max<int64_t>(partitions, 1));
    }
    // Shardings name partitions. If there are several replicas, assume that these are the devices of the shardings.
    if (!num_partitions && grid.replicas == 1) raise_to(grid.partitions, ids.sharded, 1);
  }
  if (num_replicas) grid.replicas = *num_replicas;
  if (num_partitions) grid.partitions = *num_partitions;
  if (reasons.empty()) reasons.push_back("since nothing in the module names more");
  return {grid, StrCat(FormatGrid(grid), ", ", StrJoin(reasons, " and "))};
}

}  // namespace shoal::internal
