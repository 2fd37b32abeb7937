#include "analyze/facts/infer_devices.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

// The most of something that an instruction speaks of, and which one does.
struct MaxId {
  int64_t count = 1;
  std::string from;

  void See(int64_t seen, std::string_view what, std::string_view who) {
    if (seen <= count) return;
    count = seen;
    from = StrCat(what, " of ", who);
  }
};

struct Named {
  MaxId replicas, partitions, devices, sharded;

  MaxId& Of(GroupMode mode) {
    if (mode == GroupMode::kFlattenedId) return devices;
    return mode == GroupMode::kCrossPartition ? partitions : replicas;
  }
};

int64_t ParseDevices(const Sharding& sharding) {
  int64_t count = 0;
  for (const Sharding& element : sharding.elements) count = std::max(count, ParseDevices(element));
  if (sharding.mesh) return std::max(count, DevicesNamedBy(sharding.mesh->devices));
  const bool names = sharding.kind == Sharding::Kind::kTiled || sharding.kind == Sharding::Kind::kMaximal;
  return names ? std::max(count, DevicesNamedBy(sharding.tiles)) : count;
}

void SeeCollective(const Instruction& hlo, Named& named) {
  if (const ReplicaGroups* groups = hlo[kReplicaGroups]; groups != nullptr && !groups->empty())
    if (const Result<GroupMode> mode = GroupModeOf(hlo); mode.ok())
      named.Of(*mode).See(IdBound(*groups), "replica_groups", hlo.name);
  if (!HasSourceTargetPairs(hlo)) return;
  // Asked in a grid in which every id is good, so that devices are the ids as written.
  const DeviceGrid roomy =
      PairModeOf(hlo) == GroupMode::kCrossReplica ? DeviceGrid{kMaxIds, 1} : DeviceGrid{1, kMaxIds};
  const Result<std::vector<DevicePair>> pairs = DevicePairsOf(hlo, roomy);
  if (!pairs.ok()) return;
  for (auto [source, target] : *pairs)
    named.Of(PairModeOf(hlo)).See(std::max(source, target) + 1, "source-target pairs", hlo.name);
}

Named Look(const Module& module) {
  Named named;
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      SeeCollective(*hlo, named);
      if (const Sharding* sharding = (*hlo)[kSharding])
        named.sharded.See(ParseDevices(*sharding), "sharding", hlo->name);
    }
  }
  return named;
}

std::string Count(const DeviceGrid& grid) {
  std::string devices = StrCat(grid.count(), grid.count() == 1 ? " device" : " devices");
  if (grid.replicas == 1 || grid.partitions == 1) return devices;
  return StrCat(devices, " (", grid.replicas, " replicas of ", grid.partitions, " partitions)");
}

}  // namespace

InferredGrid InferDevices(const Module& module, std::optional<int64_t> num_replicas,
                          std::optional<int64_t> num_partitions) {
  DeviceGrid grid;
  std::vector<std::string> reasons;
  if (num_replicas || num_partitions) reasons.push_back("as asked for");
  const bool header = module.replica_count > 1 || module.num_partitions > 1;
  if (header) {
    // A header may say 0, or less, for what it does not know.
    auto known = [](int64_t count) { return std::clamp<int64_t>(count, 1, kMaxIds); };
    grid = {known(module.replica_count), known(module.num_partitions)};
    if (!num_replicas || !num_partitions) reasons.push_back("from the header");
  } else {
    const Named named = Look(module);
    auto take = [&](int64_t& count, const MaxId& most, int64_t share) {
      const int64_t wanted = CeilDiv(most.count, share);
      if (wanted <= count) return;
      count = wanted;
      reasons.push_back(StrCat("from ", most.from));
    };
    const int64_t replicas = num_replicas.value_or(0), partitions = num_partitions.value_or(0);
    if (!num_replicas) take(grid.replicas, named.replicas, 1);
    if (!num_partitions) take(grid.partitions, named.partitions, 1);
    // Device ids count replicas times partitions: one program over many partitions is what they are written for.
    if (!num_partitions) {
      take(grid.partitions, named.devices, num_replicas ? std::max<int64_t>(replicas, 1) : grid.replicas);
    } else if (!num_replicas) {
      take(grid.replicas, named.devices, std::max<int64_t>(partitions, 1));
    }
    // Shardings are of partitions, but where replicas are named as well they are the same devices, seen before.
    if (!num_partitions && grid.replicas == 1) take(grid.partitions, named.sharded, 1);
  }
  if (num_replicas) grid.replicas = *num_replicas;
  if (num_partitions) grid.partitions = *num_partitions;
  if (reasons.empty()) reasons.push_back("since nothing in the module names more");
  return {grid, StrCat(Count(grid), ", ", StrJoin(reasons, " and "))};
}

}  // namespace shoal::internal
