#include "analyze/facts/participation.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

int64_t CapAtTwo(int64_t members) { return std::min<int64_t>(members, 2); }

// Labels of ids of one kind. Ids with different roles have different labels. Ids not in the map have an empty label.
struct IdLabels {
  int64_t count = 0;  // number of ids, with or without a label
  std::map<int64_t, std::string> labels;

  std::string Of(int64_t id) const {
    const auto found = labels.find(id);
    return found == labels.end() ? std::string() : found->second;
  }
};

// The ids with one label. `count` is the number of ids, and `listed` has some of these ids.
struct IdClass {
  std::string label;
  std::vector<int64_t> listed;
  int64_t count = 0;
};

// Lists only `max_unlabeled` ids without a label, since there may be very many such ids.
std::vector<IdClass> ClassesOf(const IdLabels& ids, size_t max_unlabeled) {
  std::map<std::string, std::vector<int64_t>> by_label;
  for (const auto& [id, label] : ids.labels) by_label[label].push_back(id);
  std::vector<IdClass> classes;
  for (auto& [label, listed] : by_label) classes.push_back({label, listed, std::ssize(listed)});
  IdClass rest{"", {}, ids.count - std::ssize(ids.labels)};
  for (int64_t id = 0; id < ids.count && rest.listed.size() < max_unlabeled; ++id)
    if (!ids.labels.contains(id)) rest.listed.push_back(id);
  if (rest.count > 0) classes.push_back(std::move(rest));
  return classes;
}

// Returns the first unlabeled device in the given classes of replicas and partitions, or -1 if there is none.
int64_t FirstOf(const IdClass& replicas, const IdClass& partitions, const DeviceGrid& grid, const IdLabels& devices) {
  for (int64_t replica : replicas.listed) {
    for (int64_t partition : partitions.listed) {
      const int64_t device = grid.DeviceAt(replica, partition);
      if (!devices.labels.contains(device)) return device;
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
  const int64_t devices_per_id = over_partitions ? grid_.partitions : 1;
  const int64_t ids = *mode == GroupMode::kCrossPartition ? grid_.partitions
                      : *mode == GroupMode::kFlattenedId  ? grid_.count()
                                                          : grid_.replicas;
  if (groups == nullptr || groups->empty()) {
    role.default_value = CapAtTwo(std::min<int64_t>(ids, 2) * std::min<int64_t>(devices_per_id, 2));
    return role;
  }
  if (const auto* lists = std::get_if<ReplicaGroups::Lists>(&groups->rep)) {
    std::map<int64_t, int64_t> id_counts;  // number of ids with each role
    for (const std::vector<int64_t>& group : groups->Expand()) {
      const int64_t members = CapAtTwo(std::min<int64_t>(std::ssize(group), 2) * std::min<int64_t>(devices_per_id, 2));
      for (int64_t id : group) role.exceptions[id] = members;
      id_counts[members] += std::ssize(group);
    }
    id_counts[0] += ids - std::ssize(lists->ids);
    role.default_value = std::max_element(id_counts.begin(), id_counts.end(), [](const auto& a, const auto& b) {
                           return a.second < b.second;
                         })->first;
    if (role.default_value != 0 && id_counts[0] > 0) role.default_value = 0;  // unlisted ids have the role 0
    std::erase_if(role.exceptions, [&](const auto& entry) { return entry.second == role.default_value; });
    return role;
  }
  // The groups of an iota or of mesh axes have equal sizes and contain every id.
  int64_t size = 2;
  if (const auto* iota = std::get_if<IotaTiles>(&groups->rep)) {
    size = iota->dims.empty() ? 1 : iota->dims.back();
  } else {
    const auto& axes = std::get<ReplicaGroups::MeshAxes>(groups->rep);
    size = 1;
    for (const AxisRef& axis : axes.axes) size = CapAtTwo(size * CapAtTwo(axis.Size(axes.mesh)));
  }
  role.default_value = CapAtTwo(std::min<int64_t>(size, 2) * std::min<int64_t>(devices_per_id, 2));
  return role;
}

Participation::Role Participation::PairRole(const Instruction& hlo) const {
  Role role;
  role.mode = PairModeOf(hlo);
  for (Ints pair : hlo[kSourceTargetPairs]) role.exceptions[pair[1]] = 1;
  const int64_t ids = role.mode == GroupMode::kCrossPartition ? grid_.partitions
                      : role.mode == GroupMode::kFlattenedId  ? grid_.count()
                                                              : grid_.replicas;
  if (std::ssize(role.exceptions) == ids) {  // every device is a target, as in a ring
    role.default_value = 1;
    role.exceptions.clear();
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
  const auto exception = role->second.exceptions.find(IdOf(role->second.mode, device));
  return exception == role->second.exceptions.end() ? role->second.default_value : exception->second;
}

int64_t Participation::MembersOf(const Instruction& collective, int64_t device) const {
  return RoleOf(collective, device);
}

bool Participation::IsTarget(const Instruction& permute, int64_t device) const { return RoleOf(permute, device) == 1; }

std::vector<ParticipationClass> Participation::Classes() const {
  IdLabels replicas{grid_.replicas, {}}, partitions{grid_.partitions, {}}, devices{grid_.count(), {}};
  for (size_t i = 0; i < collectives_.size(); ++i) {
    const Role& role = roles_.at(collectives_[i]);
    IdLabels& ids = role.mode == GroupMode::kFlattenedId      ? devices
                    : role.mode == GroupMode::kCrossPartition ? partitions
                                                              : replicas;
    for (const auto& [id, value] : role.exceptions) StrAppend(&ids.labels[id], i, ":", value, " ");
  }
  // First classify the labeled devices one by one. Then combine each class of replicas with each class of partitions.
  std::map<std::string, ParticipationClass> labeled;
  std::map<std::pair<std::string, std::string>, int64_t> labeled_counts;
  for (const auto& [device, label] : devices.labels) {
    const std::pair key(replicas.Of(grid_.ReplicaOf(device)), partitions.Of(grid_.PartitionOf(device)));
    ++labeled_counts[key];
    ParticipationClass& of_label = labeled[StrCat(label, "/", key.first, "/", key.second)];
    if (of_label.count++ == 0) of_label.first = device;
  }
  std::vector<ParticipationClass> classes;
  for (const auto& [label, of_label] : labeled) classes.push_back(of_label);
  const size_t max_unlabeled = devices.labels.size() + 1;
  for (const IdClass& replica : ClassesOf(replicas, max_unlabeled)) {
    for (const IdClass& partition : ClassesOf(partitions, max_unlabeled)) {
      const int64_t count = replica.count * partition.count - labeled_counts[{replica.label, partition.label}];
      const int64_t first = count > 0 ? FirstOf(replica, partition, grid_, devices) : -1;
      if (first >= 0) classes.push_back({first, count});
    }
  }
  return classes;
}

}  // namespace shoal::internal
