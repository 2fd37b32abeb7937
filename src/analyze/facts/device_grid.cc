#include "analyze/facts/device_grid.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/transfer.h"

namespace shoal::internal {
namespace {

// The kind of ids that a group mode uses, and the number of such ids.
struct Ids {
  std::string_view kind;
  int64_t count = 0;
};

Ids IdsOf(GroupMode mode, const DeviceGrid& grid) {
  if (mode == GroupMode::kCrossPartition) return {"partition", grid.partitions};
  if (mode == GroupMode::kFlattenedId) return {"device", grid.count()};
  return {"replica", grid.replicas};
}

Diag OutOfRange(const Instruction& hlo, std::string_view attr, const Ids& ids, int64_t id) {
  return Fail(hlo.at, "",
              StrCat(attr, " of ", hlo.name, " name ", ids.kind, " ", id, ", but the run has ", ids.count, " ",
                     ids.kind, ids.count == 1 ? "" : "s"));
}

int64_t CountUpTo(Ints ids) {
  int64_t count = 0;
  for (int64_t id : ids) count = std::max(count, std::min(id, kMaxIds - 1) + 1);
  return count;
}

int64_t CappedProduct(Ints sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product) || product > kMaxIds) return kMaxIds;
  return product;
}

std::vector<std::vector<int64_t>> IdGroups(const Instruction& hlo, const Ids& ids) {
  const ReplicaGroups* groups = hlo[kReplicaGroups];
  if (groups != nullptr && !groups->empty()) return groups->Expand();
  std::vector<int64_t> all_ids(static_cast<size_t>(ids.count));
  for (int64_t i = 0; i < ids.count; ++i) all_ids[static_cast<size_t>(i)] = i;
  return {all_ids};
}

// Calls add(f) with each mapping f from ids to devices. There is one mapping per replica, per partition or per module.
template <class Add>
void ForEachIdMapping(GroupMode mode, const DeviceGrid& grid, Add add) {
  if (mode == GroupMode::kCrossPartition) {
    for (int64_t r = 0; r < grid.replicas; ++r) add([&](int64_t id) { return grid.DeviceAt(r, id); });
  } else if (mode == GroupMode::kCrossReplica) {
    for (int64_t p = 0; p < grid.partitions; ++p) add([&](int64_t id) { return grid.DeviceAt(id, p); });
  } else {
    add([](int64_t id) { return id; });
  }
}

Status CheckEachDeviceOnce(const Instruction& hlo, const std::vector<DeviceGroup>& groups, const DeviceGrid& grid) {
  std::vector<bool> seen(static_cast<size_t>(grid.count()));
  for (const DeviceGroup& group : groups) {
    for (int64_t device : group) {
      if (seen[static_cast<size_t>(device)])
        return Fail(hlo.at, "", StrCat("replica_groups of ", hlo.name, " name device ", device, " twice"));
      seen[static_cast<size_t>(device)] = true;
    }
  }
  if (MayExcludeDevices(hlo)) return {};
  for (size_t device = 0; device < seen.size(); ++device)
    if (!seen[device])
      return Fail(hlo.at, "",
                  StrCat("replica_groups of ", hlo.name, " must name every device, but omit device ", device));
  return {};
}

std::string_view FrontendAttributeOf(const Instruction& hlo, std::string_view name) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == name) return attribute.value;
  return {};
}

// Parses pairs such as {{0,1},{1,2}}. Accepts any even number of ids, with any separators between the ids.
std::optional<std::vector<DevicePair>> ParsePairs(std::string_view text) {
  std::vector<int64_t> ids;
  for (size_t i = 0; i < text.size();) {
    int64_t id = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), id);
    if (error == std::errc()) {
      ids.push_back(id);
      i = static_cast<size_t>(end - text.data());
    } else if (error == std::errc::invalid_argument &&
               std::string_view("{}, ").find(text[i]) != std::string_view::npos) {
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (ids.size() % 2 != 0) return std::nullopt;
  std::vector<DevicePair> pairs;
  for (size_t i = 0; i < ids.size(); i += 2) pairs.emplace_back(ids[i], ids[i + 1]);
  return pairs;
}

constexpr std::string_view kSendRecvPairs = "_xla_send_recv_source_target_pairs";

// Returns the source-target pairs from the attribute of a permute, or from the frontend attribute of a send or recv.
Result<std::vector<DevicePair>> WrittenPairs(const Instruction& hlo) {
  std::vector<DevicePair> pairs;
  for (Ints pair : hlo[kSourceTargetPairs]) pairs.emplace_back(pair[0], pair[1]);
  if (const std::string_view text = FrontendAttributeOf(hlo, kSendRecvPairs); !text.empty()) {
    std::optional<std::vector<DevicePair>> parsed = ParsePairs(text);
    if (!parsed) return Fail(hlo.at, "", StrCat(kSendRecvPairs, " must be pairs of numbers, got ", text));
    return std::move(*parsed);
  }
  return pairs;
}

}  // namespace

int64_t DevicesNamedBy(const TileAssignment& tiles) {
  return tiles.iota ? CappedProduct(tiles.iota->dims) : CountUpTo(tiles.devices);
}

int64_t IdBound(const ReplicaGroups& groups) {
  if (const auto* lists = std::get_if<ReplicaGroups::Lists>(&groups.rep)) return CountUpTo(lists->ids);
  if (const auto* iota = std::get_if<IotaTiles>(&groups.rep)) return CappedProduct(iota->dims);
  return DevicesNamedBy(std::get<ReplicaGroups::MeshAxes>(groups.rep).mesh.devices);
}

Result<std::vector<DeviceGroup>> DeviceGroupsOf(const Instruction& hlo, const DeviceGrid& grid) {
  SHOAL_ASSIGN(mode, GroupModeOf(hlo));
  const Ids ids = IdsOf(mode, grid);
  if (const ReplicaGroups* groups = hlo[kReplicaGroups]; groups != nullptr && IdBound(*groups) > ids.count)
    return OutOfRange(hlo, "replica_groups", ids, IdBound(*groups) - 1);
  const std::vector<std::vector<int64_t>> written = IdGroups(hlo, ids);
  for (const std::vector<int64_t>& group : written)
    for (int64_t id : group)
      if (id < 0 || id >= ids.count) return OutOfRange(hlo, "replica_groups", ids, id);
  std::vector<DeviceGroup> groups;
  if (mode == GroupMode::kCrossReplicaAndPartition) {
    for (const std::vector<int64_t>& replicas : written) {
      DeviceGroup& group = groups.emplace_back();
      for (int64_t r : replicas)
        for (int64_t p = 0; p < grid.partitions; ++p) group.push_back(grid.DeviceAt(r, p));
    }
  } else {
    ForEachIdMapping(mode, grid, [&](auto device_of) {
      for (const std::vector<int64_t>& ids_of_group : written) {
        DeviceGroup& group = groups.emplace_back();
        for (int64_t id : ids_of_group) group.push_back(device_of(id));
      }
    });
  }
  SHOAL_TRY(CheckEachDeviceOnce(hlo, groups, grid));
  return groups;
}

// Ops with a channel communicate across partitions. Channel 0 of a send or recv means that the op has no channel.
GroupMode PairModeOf(const Instruction& hlo) {
  if (hlo[kUseGlobalDeviceIds]) return GroupMode::kFlattenedId;
  const bool permutes = hlo.has(kSourceTargetPairs);
  const bool has_channel = permutes ? hlo.has(kChannelId) : hlo[kChannelId] > 0;
  return has_channel ? GroupMode::kCrossPartition : GroupMode::kCrossReplica;
}

bool HasSourceTargetPairs(const Instruction& hlo) {
  return hlo.has(kSourceTargetPairs) || !FrontendAttributeOf(hlo, kSendRecvPairs).empty();
}

Result<std::vector<DevicePair>> DevicePairsOf(const Instruction& hlo, const DeviceGrid& grid) {
  SHOAL_ASSIGN(written, WrittenPairs(hlo));
  const GroupMode mode = PairModeOf(hlo);
  const Ids ids = IdsOf(mode, grid);
  for (auto [source, target] : written)
    for (int64_t id : {source, target})
      if (id < 0 || id >= ids.count) return OutOfRange(hlo, "source-target pairs", ids, id);
  std::vector<DevicePair> pairs;
  ForEachIdMapping(mode, grid, [&](auto device_of) {
    for (auto [source, target] : written) pairs.emplace_back(device_of(source), device_of(target));
  });
  return pairs;
}

}  // namespace shoal::internal
