#include "analyze/facts/participation.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

int64_t Alone(int64_t members) { return std::min<int64_t>(members, 2); }

// Ids of one kind, and what tells some of them apart from the others, as text; "" is the mark of those not named.
struct Marks {
  int64_t count = 0;  // of all ids
  std::map<int64_t, std::string> marked;

  std::string Of(int64_t id) const {
    const auto found = marked.find(id);
    return found == marked.end() ? std::string() : found->second;
  }
};

// All ids of one mark, of which `some` are listed.
struct IdClass {
  std::string mark;
  std::vector<int64_t> some;
  int64_t count = 0;
};

// Of the ids without a mark, which may be very many, `most` are listed.
std::vector<IdClass> ClassesOf(const Marks& ids, size_t most) {
  std::map<std::string, std::vector<int64_t>> by_mark;
  for (const auto& [id, mark] : ids.marked) by_mark[mark].push_back(id);
  std::vector<IdClass> classes;
  for (auto& [mark, listed] : by_mark) classes.push_back({mark, listed, std::ssize(listed)});
  IdClass rest{"", {}, ids.count - std::ssize(ids.marked)};
  for (int64_t id = 0; id < ids.count && rest.some.size() < most; ++id)
    if (!ids.marked.contains(id)) rest.some.push_back(id);
  if (rest.count > 0) classes.push_back(std::move(rest));
  return classes;
}

// A device of such a replica and such a partition that has no mark of its own; -1 if there is none.
int64_t FirstOf(const IdClass& replicas, const IdClass& partitions, const DeviceGrid& grid, const Marks& devices) {
  for (int64_t replica : replicas.some) {
    for (int64_t partition : partitions.some) {
      const int64_t device = grid.DeviceAt(replica, partition);
      if (!devices.marked.contains(device)) return device;
    }
  }
  return -1;
}

}  // namespace

Participation::Participation(const Module& module, const DeviceGrid& grid) : grid_(grid) {
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      const bool pairs = hlo->has(kSourceTargetPairs);
      if (!pairs && Info(hlo->opcode).op_class != OpClass::kCollective) continue;
      roles_[hlo] = pairs ? PairRole(*hlo) : GroupRole(*hlo);
      collectives_.push_back(hlo);
    }
  }
}

Participation::Role Participation::GroupRole(const Instruction& hlo) const {
  Role role;
  Result<GroupMode> mode = GroupModeOf(hlo);
  if (!mode.ok()) return role;
  role.mode = *mode;
  const ReplicaGroups* groups = hlo[kReplicaGroups];
  const bool over_partitions = *mode == GroupMode::kCrossReplicaAndPartition;
  const int64_t each = over_partitions ? grid_.partitions : 1;  // devices for each id of a group
  const int64_t ids = *mode == GroupMode::kCrossPartition ? grid_.partitions
                      : *mode == GroupMode::kFlattenedId  ? grid_.count()
                                                          : grid_.replicas;
  if (groups == nullptr || groups->empty()) {
    role.usual = Alone(std::min<int64_t>(ids, 2) * std::min<int64_t>(each, 2));
    return role;
  }
  if (const auto* lists = std::get_if<ReplicaGroups::Lists>(&groups->rep)) {
    std::map<int64_t, int64_t> of_size;  // how many ids have which role
    for (const std::vector<int64_t>& group : groups->Expand()) {
      const int64_t members = Alone(std::min<int64_t>(std::ssize(group), 2) * std::min<int64_t>(each, 2));
      for (int64_t id : group) role.other[id] = members;
      of_size[members] += std::ssize(group);
    }
    of_size[0] += ids - std::ssize(lists->ids);
    role.usual = std::max_element(of_size.begin(), of_size.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
    if (role.usual != 0 && of_size[0] > 0) role.usual = 0;  // ids that are not written have this one
    std::erase_if(role.other, [&](const auto& entry) { return entry.second == role.usual; });
    return role;
  }
  // An iota or the axes of a mesh: every id is in a group of the same size.
  int64_t size = 2;
  if (const auto* iota = std::get_if<IotaTiles>(&groups->rep)) {
    size = iota->dims.empty() ? 1 : iota->dims.back();
  } else {
    const auto& axes = std::get<ReplicaGroups::MeshAxes>(groups->rep);
    size = 1;
    for (const AxisRef& axis : axes.axes) size = std::min<int64_t>(size * std::min<int64_t>(axis.Size(axes.mesh), 2), 2);
  }
  role.usual = Alone(std::min<int64_t>(size, 2) * std::min<int64_t>(each, 2));
  return role;
}

Participation::Role Participation::PairRole(const Instruction& hlo) const {
  Role role;
  role.mode = PairModeOf(hlo);
  for (Ints pair : hlo[kSourceTargetPairs]) role.other[pair[1]] = 1;
  const int64_t ids = role.mode == GroupMode::kCrossPartition ? grid_.partitions
                      : role.mode == GroupMode::kFlattenedId  ? grid_.count()
                                                              : grid_.replicas;
  if (std::ssize(role.other) == ids) {  // a ring: everybody is sent something
    role.usual = 1;
    role.other.clear();
  }
  return role;
}

int64_t Participation::IdOf(GroupMode mode, int64_t device) const {
  if (mode == GroupMode::kFlattenedId) return device;
  return mode == GroupMode::kCrossPartition ? grid_.PartitionOf(device) : grid_.ReplicaOf(device);
}

int64_t Participation::RoleOf(const Instruction& hlo, int64_t device) const {
  const auto role = roles_.find(&hlo);
  if (role == roles_.end()) return 0;
  const auto other = role->second.other.find(IdOf(role->second.mode, device));
  return other == role->second.other.end() ? role->second.usual : other->second;
}

int64_t Participation::MembersOf(const Instruction& collective, int64_t device) const {
  return RoleOf(collective, device);
}

bool Participation::IsTarget(const Instruction& permute, int64_t device) const { return RoleOf(permute, device) == 1; }

std::vector<ParticipationClass> Participation::Classes() const {
  Marks replicas{grid_.replicas, {}}, partitions{grid_.partitions, {}}, devices{grid_.count(), {}};
  for (size_t i = 0; i < collectives_.size(); ++i) {
    const Role& role = roles_.at(collectives_[i]);
    Marks& ids = role.mode == GroupMode::kFlattenedId      ? devices
                 : role.mode == GroupMode::kCrossPartition ? partitions
                                                           : replicas;
    for (const auto& [id, value] : role.other) StrAppend(&ids.marked[id], i, ":", value, " ");
  }
  // Devices with a mark of their own one by one; then every kind of replica with every kind of partition.
  std::map<std::string, ParticipationClass> own;
  std::map<std::pair<std::string, std::string>, int64_t> taken;
  for (const auto& [device, mark] : devices.marked) {
    const std::pair kind(replicas.Of(grid_.ReplicaOf(device)), partitions.Of(grid_.PartitionOf(device)));
    ++taken[kind];
    ParticipationClass& of_mark = own[StrCat(mark, "/", kind.first, "/", kind.second)];
    if (of_mark.count++ == 0) of_mark.first = device;
  }
  std::vector<ParticipationClass> classes;
  for (const auto& [mark, of_mark] : own) classes.push_back(of_mark);
  const size_t most = devices.marked.size() + 1;
  for (const IdClass& replica : ClassesOf(replicas, most)) {
    for (const IdClass& partition : ClassesOf(partitions, most)) {
      const int64_t count = replica.count * partition.count - taken[{replica.mark, partition.mark}];
      const int64_t first = count > 0 ? FirstOf(replica, partition, grid_, devices) : -1;
      if (first >= 0) classes.push_back({first, count});
    }
  }
  return classes;
}

}  // namespace shoal::internal
