#include "analyze/facts/participants.h"

#include <algorithm>
#include <numeric>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Limits on the number of listed device ids, per collective and per module.
constexpr int64_t kMaxListedDevices = 1 << 16;
constexpr int64_t kMaxListed = 1 << 24;

// Two collectives with equal keys have equal participants.
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
  StrAppend(&key, mode.ok() ? static_cast<int>(*mode) : -1, MayExcludeDevices(hlo) ? "b " : " ");
  if (const ReplicaGroups* groups = hlo[kReplicaGroups]) AppendReplicaGroups(key, *groups);
  return key;
}

}  // namespace

Participants::MemberRank Participants::MemberRankOf(int64_t device) const {
  if (groups.empty() && pairs.empty()) return {0, 1, 0, 0};
  return device >= 0 && device < std::ssize(ranks) ? ranks[static_cast<size_t>(device)] : MemberRank();
}

Participants& ParticipantTable::Of(const Instruction& hlo) {
  Participants*& entry = by_key_[KeyOf(hlo)];
  if (entry != nullptr) return *entry;
  entry = all_.emplace_back(std::make_unique<Participants>()).get();
  entry->index = all_.size() - 1;
  List(hlo, *entry);
  return *entry;
}

void ParticipantTable::List(const Instruction& hlo, Participants& participants) {
  if (IsPointToPoint(hlo)) {
    ListPairs(hlo, participants);
  } else {
    ListGroups(hlo, participants);
  }
  if (!participants.groups.empty() || !participants.pairs.empty()) AssignRanks(participants);
}

void ParticipantTable::ListGroups(const Instruction& hlo, Participants& participants) {
  const ReplicaGroups* written = hlo[kReplicaGroups];
  const bool all_devices = written == nullptr || written->empty();
  const int64_t ids = all_devices ? grid_.count() : IdBound(*written);
  if (std::max(ids, grid_.count()) > kMaxListedDevices || listed_ + grid_.count() > kMaxListed) {
    participants.group_size = all_devices ? grid_.count() : IdsPerGroup(hlo).value_or(1);
    return;
  }
  Result<std::vector<DeviceGroup>> groups = DeviceGroupsOf(hlo, grid_);
  if (groups.ok()) {
    participants.groups = std::move(*groups);
  } else {
    participants.mismatch = groups.diag().message;
    if (all_devices) {
      DeviceGroup& all = participants.groups.emplace_back(static_cast<size_t>(ids));
      std::iota(all.begin(), all.end(), 0);
    } else {
      participants.groups = written->Expand();
    }
    auto is_invalid = [&](int64_t id) { return id < 0 || id >= ids; };
    for (DeviceGroup& group : participants.groups) std::erase_if(group, is_invalid);
  }
  for (const DeviceGroup& group : participants.groups) {
    participants.group_size = std::max(participants.group_size, std::ssize(group));
    listed_ += std::ssize(group);
  }
}

void ParticipantTable::ListPairs(const Instruction& hlo, Participants& participants) {
  if (!HasSourceTargetPairs(hlo)) {  // a send or recv from each device to itself
    for (int64_t device = 0; device < std::min(grid_.count(), kMaxListedDevices); ++device)
      participants.pairs.emplace_back(device, device);
    return;
  }
  Result<std::vector<DevicePair>> pairs = DevicePairsOf(hlo, grid_);
  if (pairs.ok()) {
    participants.pairs = std::move(*pairs);
  } else {
    participants.mismatch = pairs.diag().message;
    for (Ints pair : hlo[kSourceTargetPairs])
      if (pair.size() == 2) participants.pairs.emplace_back(pair[0], pair[1]);
  }
  std::erase_if(participants.pairs, [](DevicePair pair) {
    return std::min(pair.first, pair.second) < 0 || std::max(pair.first, pair.second) >= kMaxListedDevices;
  });
  participants.group_size = 2;
}

void ParticipantTable::AssignRanks(Participants& participants) const {
  int64_t count = std::min(grid_.count(), kMaxListedDevices);
  for (const DeviceGroup& group : participants.groups)
    for (int64_t device : group) count = std::max(count, device + 1);
  for (auto [source, target] : participants.pairs) count = std::max({count, source + 1, target + 1});
  std::vector<Participants::MemberRank>& ranks = participants.ranks;
  ranks.resize(static_cast<size_t>(count));
  auto rank = [&](int64_t device) -> Participants::MemberRank& { return ranks[static_cast<size_t>(device)]; };
  for (size_t g = 0; g < participants.groups.size(); ++g)
    for (size_t i = 0; i < participants.groups[g].size(); ++i) {
      rank(participants.groups[g][i]).group = static_cast<int64_t>(g);
      rank(participants.groups[g][i]).position = static_cast<int64_t>(i);
    }
  for (auto [source, target] : participants.pairs) {
    ++rank(source).sends;
    if (source != target) ++rank(target).receives;
  }
}

}  // namespace shoal::internal
