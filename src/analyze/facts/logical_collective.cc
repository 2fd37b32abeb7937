#include "analyze/facts/logical_collective.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyze/facts/chain.h"
#include "analyze/facts/wire_bytes.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/buffer_bytes.h"
#include "core/ir/sizes.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

WireShare ShareOf(const LogicalCollective& use, const Participants::MemberRank& seat) {
  const bool listed = seat.group >= 0 && !use.groups().empty();
  const int64_t members = listed ? std::ssize(use.groups()[static_cast<size_t>(seat.group)]) : use.participants->group_size;
  return {members, use.payload_bytes, seat.position == 0 ? use.payload_bytes : 0, seat.position};
}

// Devices that between them show every figure there is: the first members of each size of group, all that pairs name.
template <class Figure>
int64_t MaxOverDevices(const LogicalCollective& use, Figure figure) {
  int64_t most = 0;
  if (use.groups().empty() && use.pairs().empty()) return figure(0);
  std::set<size_t> sizes;
  for (const DeviceGroup& group : use.groups())
    if (sizes.insert(group.size()).second)
      for (size_t i = 0; i < std::min<size_t>(group.size(), 3); ++i) most = std::max(most, figure(group[i]));
  for (auto [source, target] : use.pairs()) most = std::max(most, figure(target));
  return most;
}

// Computations whose collectives begin and end with the instruction that runs them: fusions and async wrappers, and
// what only those call.
class Absorbed {
 public:
  explicit Absorbed(const CallGraph& calls) {
    for (const Computation* computation : calls.ReachableFromEntry())
      if (IsAbsorbed(*computation, calls)) absorbed_.insert(computation);
    const auto& order = calls.ReachableFromEntry();
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (Holds(**it)) Collect(**it);
  }

  bool Holds(const Computation& computation) const { return absorbed_.count(&computation) > 0; }
  // The collectives that run as part of the instruction.
  std::vector<const Instruction*> Within(const Instruction& hlo) const {
    std::vector<const Instruction*> all;
    if (!CallsComputations(hlo)) return all;
    for (const Computation* callee : CalledComputations(hlo))
      if (auto found = within_.find(callee); found != within_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    return all;
  }

 private:
  // A computation below another absorbed one may have one caller only, so that lists do not grow by repetition.
  bool IsAbsorbed(const Computation& computation, const CallGraph& calls) const {
    const auto callers = calls.CallersOf(computation);
    auto wraps = [](const Instruction* hlo) {
      return IsFusion(*hlo) || WrapsComputation(*hlo);
    };
    if (callers.size() == 1 && Holds(*callers[0]->parent))
      return wraps(callers[0]) || IsCall(*callers[0]);
    return !callers.empty() && std::all_of(callers.begin(), callers.end(), [&](const Instruction* caller) {
      return wraps(caller) && !Holds(*caller->parent);
    });
  }

  void Collect(const Computation& computation) {
    std::vector<const Instruction*> all;
    for (const Instruction* hlo : computation.instructions) {
      if (IsCommunication(*hlo)) all.push_back(hlo);
      const std::vector<const Instruction*> inner = Within(*hlo);
      all.insert(all.end(), inner.begin(), inner.end());
    }
    if (!all.empty()) within_[&computation] = std::move(all);
  }

  std::set<const Computation*> absorbed_;
  std::unordered_map<const Computation*, std::vector<const Instruction*>> within_;
};

class Ledger {
 public:
  Ledger(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid)
      : module_(module),
        executions_(executions),
        regions_(executions.calls()),
        absorbed_(executions.calls()),
        result_{{}, ParticipantTable(grid), {}, {}} {}

  ModuleCollectives Make() && {
    for (const Computation* computation : executions_.calls().ReachableFromEntry())
      for (const Instruction* hlo : computation->instructions) Note(*hlo);
    for (const Computation* computation : executions_.calls().ReachableFromEntry()) {
      if (absorbed_.Holds(*computation)) continue;
      open_.clear();
      for (const Instruction* hlo : computation->instructions) Visit(*hlo);
    }
    result_.mesh.emplace(module_, result_.memberships);
    Assume();
    return std::move(result_);
  }

 private:
  // What must be known before: which collectives begin chains, which channels are sent on.
  void Note(const Instruction& hlo) {
    if (MayCommunicate(hlo)) foreign_[std::string(TargetOf(hlo))].push_back(&hlo);
    if (IsSend(hlo)) sent_.insert(hlo[kChannelId]);
    if (!StartsChains(hlo)) return;
    for (const Instruction* operand : hlo.operands)
      if (std::optional<ChainKey> key = ChainOf(*operand)) {
        begins_chain_.insert(operand);
        chains_.insert(*key);
      }
  }

  void Visit(const Instruction& hlo) {
    if (IsCommunication(hlo)) Add(hlo, hlo);
    for (const Instruction* inner : absorbed_.Within(hlo)) {
      const std::optional<ChainKey> key = ChainOf(*inner);
      if (!key || chains_.count(*key) == 0) {
        Add(*inner, hlo);
      } else if (begins_chain_.count(inner) > 0) {
        open_[*key] = result_.all.size();
        Add(*inner, hlo);
      } else if (auto begun = open_.find(*key); begun != open_.end()) {
        result_.all[begun->second].done = &hlo;
      }
    }
  }

  void Add(const Instruction& hlo, const Instruction& start) {
    if (IsRecv(hlo) && sent_.count(hlo[kChannelId]) > 0) return;
    LogicalCollective use;
    use.hlo = &hlo;
    use.kind = IsRecv(hlo) ? hlo.opcode : KindOf(hlo.opcode);
    use.start = use.done = &start;
    if (IsAsyncStart(start)) {
      const Instruction* done = regions_.DoneOf(start);
      if (done != nullptr) use.done = done;
      if (done == nullptr) endless_.push_back(&start);
    }
    use.times = executions_.Of(start);
    use.payload_bytes = PayloadOf(hlo);
    use.participants = &result_.memberships.Of(hlo);
    result_.all.push_back(use);
  }

  void Say(const std::vector<const Instruction*>& who, std::string_view what) {
    if (who.empty()) return;
    result_.assumptions.push_back(
        StrCat(who[0]->name, who.size() == 1 ? "" : StrCat(" and ", who.size() - 1, " more"), ": ", what));
  }

  // Payloads are counted in elements; a TPU's arrays have more in memory.
  void SayPadding() {
    double plain = 0, padded = 0;
    for (const LogicalCollective& use : result_.all) {
      for (const Instruction* operand : use.hlo->operands) {
        const Shape& shape = operand->shape();
        if (!shape.IsArray() || shape.layout() == nullptr || shape.layout()->tiles.empty()) continue;
        const double elements = static_cast<double>(shape.ElementCount().value_or(0));
        const int64_t bits = shape.layout()->element_size_in_bits;
        plain += use.times * (bits > 0 ? elements * static_cast<double>(bits) / 8
                                       : elements * static_cast<double>(StorageBytes(shape.element_type())));
        padded += use.times * static_cast<double>(TiledBytes(shape));
      }
    }
    if (padded > plain)
      result_.assumptions.push_back(StrCat("tiles are padded in memory: the operands of collectives have ",
                                           FormatBytes(padded), " there per step, of which ", FormatBytes(plain),
                                           " are elements; payloads count elements"));
  }

  void Assume() {
    std::set<std::string> mismatches;
    std::vector<const Instruction*> ragged, rooted, dynamic, unlisted;
    bool any_async = false;
    for (const LogicalCollective& use : result_.all) {
      any_async |= use.async();
      if (IsRaggedExchange(*use.hlo)) ragged.push_back(use.hlo);
      if ((*use.hlo)[kHasDynamicRoot]) rooted.push_back(use.hlo);
      if (!IsPairedKind(use.kind) && use.groups().empty()) unlisted.push_back(use.hlo);
      for (const Instruction* operand : use.hlo->operands)
        if (operand->shape().IsArray() && operand->shape().has_dynamic()) dynamic.push_back(use.hlo);
      if (!use.participants->mismatch.empty()) mismatches.insert(use.participants->mismatch);
    }
    for (const std::string& mismatch : mismatches)
      result_.assumptions.push_back(StrCat(mismatch, "; its ids are taken for devices as they are written"));
    Say(ragged, "how much goes where depends on data; counted as if spread evenly over the group");
    Say(rooted, "the root depends on data; counted as the first of the group");
    Say(dynamic, "sizes depend on data; counted at their bounds");
    Say(unlisted, "too many devices to list; counted by the size of the groups");
    Say(endless_, "nothing waits for it; counted as sync");
    SayPadding();
    for (const auto& [target, calls] : foreign_)
      Say(calls, StrCat("a call of ", target, " that talks to other devices; how is not understood, and it is not counted"));
    if (any_async && !module_.is_scheduled)
      result_.assumptions.push_back("the module has no schedule: what overlaps is read off XLA's post-order");
  }

  const Module& module_;
  const ExecutionCounts& executions_;
  const AsyncRegions regions_;
  const Absorbed absorbed_;
  ModuleCollectives result_;
  std::map<std::string, std::vector<const Instruction*>> foreign_;  // custom calls, by target
  std::set<int64_t> sent_;
  std::set<const Instruction*> begins_chain_;
  std::set<ChainKey> chains_;
  std::map<ChainKey, size_t> open_;  // chains that began in this computation: the use
  std::vector<const Instruction*> endless_;
};

}  // namespace

bool IsCommunication(const Instruction& hlo) {
  return IsCommunicationOp(hlo) && !hlo[kIsHostTransfer];
}

Traffic LogicalCollective::TrafficOn(int64_t device) const {
  const Participants::MemberRank seat = participants->MemberRankOf(device);
  if (IsPairedKind(kind)) return {1, SaturatingMul(payload_bytes, seat.sends), SaturatingMul(payload_bytes, seat.receives)};
  if (seat.group < 0) return {};
  return {1, payload_bytes, DirectBytes(kind, ShareOf(*this, seat))};
}

int64_t LogicalCollective::RingBytes(int64_t device) const {
  const Participants::MemberRank seat = participants->MemberRankOf(device);
  if (IsPairedKind(kind)) return SaturatingMul(payload_bytes, seat.receives);
  return seat.group < 0 ? 0 : shoal::internal::RingBytes(kind, ShareOf(*this, seat));
}

int64_t LogicalCollective::MostWireBytes() const {
  return MaxOverDevices(*this, [&](int64_t device) { return WireBytes(device); });
}
int64_t LogicalCollective::MostRingBytes() const {
  return MaxOverDevices(*this, [&](int64_t device) { return RingBytes(device); });
}

ModuleCollectives CollectivesOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid) {
  return Ledger(module, executions, grid).Make();
}

}  // namespace shoal::internal
