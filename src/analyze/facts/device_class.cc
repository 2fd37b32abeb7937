#include "analyze/facts/device_class.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxClassifiedDevices = 1 << 14;  // that are asked one by one
constexpr size_t kMaxClasses = 64;

// Conditionals whose branch follows from the device's ids, and not from constants alone.
std::vector<const Instruction*> ConditionalsOf(const CallGraph& calls) {
  std::vector<const Instruction*> found;
  KnownValues everywhere(calls), on_the_first(calls, DeviceIds{});
  for (const Computation* computation : calls.ReachableFromEntry())
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kBranch && !hlo->operands.empty() &&
          !everywhere.IntegerAt({hlo->operands[0], {}}) && on_the_first.IntegerAt({hlo->operands[0], {}}))
        found.push_back(hlo);
  return found;
}

// Of a pred the first branch is for true; an index outside the branches means the last.
size_t BranchFor(const Instruction& conditional, int64_t value) {
  const auto count = static_cast<int64_t>(CalledComputations(conditional).size());
  const bool is_pred = conditional.operand_shape(0).element_type() == ElementType::kPred;
  if (is_pred) return value != 0 ? 0 : 1;
  return static_cast<size_t>(value < 0 || value >= count ? std::max<int64_t>(0, count - 1) : value);
}

// Permutes, sends and recvs of some devices only.
std::vector<const Participants*> PartialTransfers(const ModuleCollectives& collectives, int64_t devices) {
  std::vector<const Participants*> partial;
  for (const LogicalCollective& use : collectives.all) {
    const Participants& participants = *use.participants;
    if (participants.pairs.empty() || static_cast<int64_t>(participants.pairs.size()) >= devices) continue;
    if (participants.seats.empty() || std::find(partial.begin(), partial.end(), &participants) != partial.end()) continue;
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

DeviceClasses Alike() {
  DeviceClasses classes;
  classes.all.push_back({{}, {}, "every device"});
  return classes;
}

class Classifying {
 public:
  Classifying(const CallGraph& calls, const ModuleCollectives& collectives, const DeviceGrid& grid)
      : calls_(calls), grid_(grid), conditionals_(ConditionalsOf(calls)), transfers_(PartialTransfers(collectives, grid.count())) {}

  DeviceClasses Make() {
    if (grid_.count() < 2 || (conditionals_.empty() && transfers_.empty())) return Alike();
    if (grid_.count() > kMaxClassifiedDevices) {
      DeviceClasses classes = Alike();
      classes.notes.push_back(StrCat("more than ", kMaxClassifiedDevices, " devices: one stands for all, whatever branches its id would take"));
      return classes;
    }
    std::vector<std::vector<int64_t>> signatures(static_cast<size_t>(grid_.count()));
    std::vector<DeviceClass> ones(signatures.size());
    for (size_t device = 0; device < ones.size(); ++device)
      signatures[device] = SignatureOf(static_cast<int64_t>(device), ones[device]);
    DeviceClasses classes = Grouped(signatures, ones);
    // Who is sent to by another class is another class: stages of a pipeline that do the same do it at another time.
    for (size_t before = 0; classes.all.size() > before && classes.all.size() <= kMaxClasses;) {
      before = classes.all.size();
      for (const Participants* participants : transfers_)
        for (const auto& [source, target] : participants->pairs)
          if (source != target && InRange(source) && InRange(target))
            signatures[static_cast<size_t>(target)].push_back(classes.of[static_cast<size_t>(source)]);
      classes = Grouped(signatures, ones);
    }
    if (classes.all.size() > kMaxClasses) {
      classes = Alike();
      classes.notes.push_back(StrCat("devices do more than ", kMaxClasses, " different things: one stands for all"));
    }
    if (classes.alike()) classes.of.clear();
    for (DeviceClass& one : classes.all) one.name = classes.alike() ? "every device" : NameOf(one.devices);
    return classes;
  }

 private:
  bool InRange(int64_t device) const { return device >= 0 && device < grid_.count(); }

  // A class for each signature, by their first device.
  static DeviceClasses Grouped(const std::vector<std::vector<int64_t>>& signatures, const std::vector<DeviceClass>& ones) {
    std::map<std::vector<int64_t>, size_t> known;
    DeviceClasses classes;
    for (size_t device = 0; device < ones.size(); ++device) {
      const auto [found, inserted] = known.try_emplace(signatures[device], classes.all.size());
      if (inserted) classes.all.push_back(ones[device]);
      classes.all[found->second].devices.push_back(static_cast<int64_t>(device));
      classes.of.push_back(static_cast<uint32_t>(found->second));
    }
    return classes;
  }

  std::vector<int64_t> SignatureOf(int64_t device, DeviceClass& one) const {
    std::vector<int64_t> signature;
    KnownValues known(calls_, DeviceIds{grid_.ReplicaOf(device), grid_.PartitionOf(device)});
    for (const Instruction* conditional : conditionals_) {
      const std::optional<int64_t> value = known.IntegerAt({conditional->operands[0], {}});
      signature.push_back(value ? static_cast<int64_t>(BranchFor(*conditional, *value)) : -1);
      if (value) one.branches[conditional] = BranchFor(*conditional, *value);
    }
    for (const Participants* participants : transfers_) {
      const Participants::MemberRank seat = participants->MemberRankOf(device);
      signature.push_back((seat.sends > 0 ? 1 : 0) + (seat.receives > 0 ? 2 : 0));
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
  return module.entry == nullptr ? Alike() : Classifying(calls, collectives, grid).Make();
}

const ClassMeetings::Row& ClassMeetings::RowOf(const Participants& participants) {
  auto [found, inserted] = rows_.try_emplace(&participants);
  Row& row = found->second;
  if (!inserted) return row;
  const size_t count = classes_.all.size();
  std::vector<std::vector<bool>> waits(count, std::vector<bool>(count, false));
  row.sends.assign(count, false);
  row.takes_part.assign(count, participants.pairs.empty() && participants.groups.empty());
  auto class_of = [&](int64_t device) -> size_t {
    return device >= 0 && device < static_cast<int64_t>(classes_.of.size()) ? classes_.of[static_cast<size_t>(device)] : 0;
  };
  for (const DeviceGroup& group : participants.groups) {
    std::vector<bool> here(count, false);
    for (int64_t device : group) here[class_of(device)] = true;
    for (size_t a = 0; a < count; ++a) {
      if (!here[a]) continue;
      row.takes_part[a] = true;
      for (size_t b = 0; b < count; ++b)
        if (here[b]) waits[a][b] = true;
    }
  }
  for (const auto& [source, target] : participants.pairs) {
    row.takes_part[class_of(source)] = row.takes_part[class_of(target)] = true;
    waits[class_of(target)][class_of(source)] = true;
    row.sends[class_of(source)] = true;
  }
  row.awaited.resize(count);
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (a != b && waits[a][b]) row.awaited[a].push_back(static_cast<uint32_t>(b));
  return row;
}

const std::vector<uint32_t>& ClassMeetings::ClassesWaitedFor(const Participants& participants, size_t c) { return RowOf(participants).awaited[c]; }
bool ClassMeetings::TakesPart(const Participants& participants, size_t c) { return RowOf(participants).takes_part[c]; }

}  // namespace shoal::internal
