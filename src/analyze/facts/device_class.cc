#include "analyze/facts/device_class.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxClassifiedDevices = 1 << 14;  // limit for the analysis of each single device
constexpr size_t kMaxClasses = 64;

// Finds the conditionals whose branch depends on the ids of the device, not only on constants.
std::vector<const Instruction*> ConditionalsOf(const CallGraph& calls) {
  std::vector<const Instruction*> found;
  KnownValues on_all(calls), on_first(calls, DeviceIds{});
  for (const Computation* computation : calls.ReachableFromEntry())
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kBranch && !hlo->operands.empty() &&
          !on_all.IntegerAt({hlo->operands[0], {}}) && on_first.IntegerAt({hlo->operands[0], {}}))
        found.push_back(hlo);
  return found;
}

// A true pred selects the first branch. An out-of-range index selects the last branch.
size_t BranchFor(const Instruction& conditional, int64_t value) {
  const auto count = static_cast<int64_t>(CalledComputations(conditional).size());
  const bool is_pred = conditional.operand_shape(0).element_type() == ElementType::kPred;
  if (is_pred) return value != 0 ? 0 : 1;
  return static_cast<size_t>(value < 0 || value >= count ? std::max<int64_t>(0, count - 1) : value);
}

// Finds the permutes, sends and recvs in which only some of the devices participate.
std::vector<const Participants*> PartialTransfers(const ModuleCollectives& collectives, int64_t devices) {
  std::vector<const Participants*> partial;
  for (const LogicalCollective& collective : collectives.all) {
    const Participants& participants = *collective.participants;
    if (participants.pairs.empty() || static_cast<int64_t>(participants.pairs.size()) >= devices) continue;
    if (participants.ranks.empty() || std::find(partial.begin(), partial.end(), &participants) != partial.end())
      continue;
    partial.push_back(&participants);
  }
  return partial;
}

std::string NameOf(const std::vector<int64_t>& devices) {
  std::string text;
  size_t ranges = 0;
  for (size_t i = 0; i < devices.size();) {
    size_t end = i + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1) ++end;
    if (++ranges > 4) return StrCat("devices ", text, " and ", devices.size() - i, " more");
    StrAppend(&text, text.empty() ? "" : ", ", devices[i]);
    if (end - i > 1) StrAppend(&text, "-", devices[end - 1]);
    i = end;
  }
  return StrCat(devices.size() == 1 ? "device " : "devices ", text);
}

DeviceClasses SingleClass() {
  DeviceClasses classes;
  classes.all.push_back({{}, {}, "every device"});
  return classes;
}

class DeviceClassifier {
 public:
  DeviceClassifier(const CallGraph& calls, const ModuleCollectives& collectives, const DeviceGrid& grid)
      : calls_(calls),
        grid_(grid),
        conditionals_(ConditionalsOf(calls)),
        transfers_(PartialTransfers(collectives, grid.count())) {}

  DeviceClasses Run() {
    if (grid_.count() < 2 || (conditionals_.empty() && transfers_.empty())) return SingleClass();
    if (grid_.count() > kMaxClassifiedDevices) {
      DeviceClasses classes = SingleClass();
      classes.notes.push_back(StrCat("more than ", kMaxClassifiedDevices,
                                     " devices: all are assumed to behave as one, even if branches depend on ids"));
      return classes;
    }
    std::vector<std::vector<int64_t>> signatures(static_cast<size_t>(grid_.count()));
    std::vector<DeviceClass> by_device(signatures.size());
    for (size_t device = 0; device < by_device.size(); ++device)
      signatures[device] = SignatureOf(static_cast<int64_t>(device), by_device[device]);
    DeviceClasses classes = GroupBySignature(signatures, by_device);
    // Split classes that receive from different classes: pipeline stages with equal work run at different times.
    for (size_t before = 0; classes.all.size() > before && classes.all.size() <= kMaxClasses;) {
      before = classes.all.size();
      for (const Participants* participants : transfers_)
        for (const auto& [source, target] : participants->pairs)
          if (source != target && InRange(source) && InRange(target))
            signatures[static_cast<size_t>(target)].push_back(classes.of[static_cast<size_t>(source)]);
      classes = GroupBySignature(signatures, by_device);
    }
    if (classes.all.size() > kMaxClasses) {
      classes = SingleClass();
      classes.notes.push_back(
          StrCat("more than ", kMaxClasses, " classes of devices: all devices are assumed to behave as one"));
    }
    if (classes.is_uniform()) classes.of.clear();
    for (DeviceClass& each : classes.all) each.name = classes.is_uniform() ? "every device" : NameOf(each.devices);
    return classes;
  }

 private:
  bool InRange(int64_t device) const { return device >= 0 && device < grid_.count(); }

  // Makes one class for each signature, sorted by first device.
  static DeviceClasses GroupBySignature(const std::vector<std::vector<int64_t>>& signatures,
                                        const std::vector<DeviceClass>& by_device) {
    std::map<std::vector<int64_t>, size_t> indices;
    DeviceClasses classes;
    for (size_t device = 0; device < by_device.size(); ++device) {
      const auto [found, inserted] = indices.try_emplace(signatures[device], classes.all.size());
      if (inserted) classes.all.push_back(by_device[device]);
      classes.all[found->second].devices.push_back(static_cast<int64_t>(device));
      classes.of.push_back(static_cast<uint32_t>(found->second));
    }
    return classes;
  }

  std::vector<int64_t> SignatureOf(int64_t device, DeviceClass& device_class) const {
    std::vector<int64_t> signature;
    KnownValues known(calls_, DeviceIds{grid_.ReplicaOf(device), grid_.PartitionOf(device)});
    for (const Instruction* conditional : conditionals_) {
      const std::optional<int64_t> value = known.IntegerAt({conditional->operands[0], {}});
      signature.push_back(value ? static_cast<int64_t>(BranchFor(*conditional, *value)) : -1);
      if (value) device_class.branches[conditional] = BranchFor(*conditional, *value);
    }
    for (const Participants* participants : transfers_) {
      const Participants::MemberRank rank = participants->MemberRankOf(device);
      signature.push_back((rank.sends > 0 ? 1 : 0) + (rank.receives > 0 ? 2 : 0));
    }
    return signature;
  }

  const CallGraph& calls_;
  DeviceGrid grid_;
  std::vector<const Instruction*> conditionals_;
  std::vector<const Participants*> transfers_;
};

}  // namespace

DeviceClasses DeviceClassesOf(const Module& module, const CallGraph& calls, const ModuleCollectives& collectives,
                              const DeviceGrid& grid) {
  return module.entry == nullptr ? SingleClass() : DeviceClassifier(calls, collectives, grid).Run();
}

const ClassDependencies::Row& ClassDependencies::RowOf(const Participants& participants) {
  auto [found, inserted] = rows_.try_emplace(&participants);
  Row& row = found->second;
  if (!inserted) return row;
  const size_t count = classes_.all.size();
  std::vector<std::vector<bool>> waits(count, std::vector<bool>(count, false));
  row.sends.assign(count, false);
  row.participates.assign(count, participants.pairs.empty() && participants.groups.empty());
  auto class_of = [&](int64_t device) -> size_t {
    return device >= 0 && device < std::ssize(classes_.of) ? classes_.of[static_cast<size_t>(device)] : 0;
  };
  for (const DeviceGroup& group : participants.groups) {
    std::vector<bool> in_group(count, false);
    for (int64_t device : group) in_group[class_of(device)] = true;
    for (size_t a = 0; a < count; ++a) {
      if (!in_group[a]) continue;
      row.participates[a] = true;
      for (size_t b = 0; b < count; ++b)
        if (in_group[b]) waits[a][b] = true;
    }
  }
  for (const auto& [source, target] : participants.pairs) {
    row.participates[class_of(source)] = row.participates[class_of(target)] = true;
    waits[class_of(target)][class_of(source)] = true;
    row.sends[class_of(source)] = true;
  }
  row.waits_for.resize(count);
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (a != b && waits[a][b]) row.waits_for[a].push_back(static_cast<uint32_t>(b));
  return row;
}

const std::vector<uint32_t>& ClassDependencies::ClassesWaitedFor(const Participants& participants, size_t c) {
  return RowOf(participants).waits_for[c];
}
bool ClassDependencies::Participates(const Participants& participants, size_t c) {
  return RowOf(participants).participates[c];
}

}  // namespace shoal::internal
