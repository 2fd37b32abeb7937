#include "analyze/facts/participants.h"

#include <algorithm>
#include <numeric>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// More devices than that are not listed one by one, nor more ids than that for a whole module.
constexpr int64_t kMaxListedDevices = 1 << 16;
constexpr int64_t kMaxListed = 1 << 24;

// Two collectives with the same key join the same devices.
std::string KeyOf(const Instruction& hlo) {
  std::string key;
  if (IsPointToPoint(hlo)) {
    StrAppend(&key, "pairs ", static_cast<int>(PairModeOf(hlo)));
    for (Ints pair : hlo[kSourceTargetPairs])
      for (int64_t id : pair) StrAppend(&key, " ", id);
    for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
      StrAppend(&key, attribute.name, attribute.value);
    return key;
  }
  const Result<GroupMode> mode = GroupModeOf(hlo);
  StrAppend(&key, mode.ok() ? static_cast<int>(*mode) : -1, LeavesDevicesOut(hlo) ? "b " : " ");
  if (const ReplicaGroups* groups = hlo[kReplicaGroups]) AppendReplicaGroups(key, *groups);
  return key;
}

}  // namespace

Participants::MemberRank Participants::MemberRankOf(int64_t device) const {
  if (groups.empty() && pairs.empty()) return {0, 1, 0, 0};
  return device >= 0 && device < std::ssize(seats) ? seats[static_cast<size_t>(device)] : MemberRank();
}

Participants& ParticipantTable::Of(const Instruction& hlo) {
  Participants*& known = known_[KeyOf(hlo)];
  if (known != nullptr) return *known;
  known = all_.emplace_back(std::make_unique<Participants>()).get();
  List(hlo, *known);
  return *known;
}

void ParticipantTable::List(const Instruction& hlo, Participants& made) {
  if (IsPointToPoint(hlo)) {
    ListPairs(hlo, made);
  } else {
    ListGroups(hlo, made);
  }
  if (!made.groups.empty() || !made.pairs.empty()) MemberRank(made);
}

void ParticipantTable::ListGroups(const Instruction& hlo, Participants& made) {
  const ReplicaGroups* written = hlo[kReplicaGroups];
  const bool everybody = written == nullptr || written->empty();
  const int64_t ids = everybody ? grid_.count() : IdBound(*written);
  if (std::max(ids, grid_.count()) > kMaxListedDevices || listed_ + grid_.count() > kMaxListed) {
    made.group_size = everybody ? grid_.count() : IdsPerGroup(hlo).value_or(1);
    return;
  }
  Result<std::vector<DeviceGroup>> groups = DeviceGroupsOf(hlo, grid_);
  if (groups.ok()) {
    made.groups = std::move(*groups);
  } else {
    made.mismatch = groups.diag().message;
    if (everybody) {
      DeviceGroup& all = made.groups.emplace_back(static_cast<size_t>(ids));
      std::iota(all.begin(), all.end(), 0);
    } else {
      made.groups = written->Expand();
    }
    for (DeviceGroup& group : made.groups) std::erase_if(group, [&](int64_t id) { return id < 0 || id >= ids; });
  }
  for (const DeviceGroup& group : made.groups) {
    made.group_size = std::max(made.group_size, std::ssize(group));
    listed_ += std::ssize(group);
  }
}

void ParticipantTable::ListPairs(const Instruction& hlo, Participants& made) {
  if (!HasSourceTargetPairs(hlo)) {  // a send or recv from each device to itself
    for (int64_t device = 0; device < std::min(grid_.count(), kMaxListedDevices); ++device)
      made.pairs.emplace_back(device, device);
    return;
  }
  Result<std::vector<DevicePair>> pairs = DevicePairsOf(hlo, grid_);
  if (pairs.ok()) {
    made.pairs = std::move(*pairs);
  } else {
    made.mismatch = pairs.diag().message;
    for (Ints pair : hlo[kSourceTargetPairs])
      if (pair.size() == 2) made.pairs.emplace_back(pair[0], pair[1]);
  }
  std::erase_if(made.pairs, [](DevicePair pair) {
    return std::min(pair.first, pair.second) < 0 || std::max(pair.first, pair.second) >= kMaxListedDevices;
  });
  made.group_size = 2;
}

void ParticipantTable::MemberRank(Participants& made) const {
  int64_t count = std::min(grid_.count(), kMaxListedDevices);
  for (const DeviceGroup& group : made.groups)
    for (int64_t device : group) count = std::max(count, device + 1);
  for (auto [source, target] : made.pairs) count = std::max({count, source + 1, target + 1});
  made.seats.resize(static_cast<size_t>(count));
  auto seat = [&](int64_t device) -> Participants::MemberRank& { return made.seats[static_cast<size_t>(device)]; };
  for (size_t g = 0; g < made.groups.size(); ++g)
    for (size_t i = 0; i < made.groups[g].size(); ++i) {
      seat(made.groups[g][i]).group = static_cast<int64_t>(g);
      seat(made.groups[g][i]).position = static_cast<int64_t>(i);
    }
  for (auto [source, target] : made.pairs) {
    ++seat(source).sends;
    if (source != target) ++seat(target).receives;
  }
}

}  // namespace shoal::internal
