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

WireShare ShareOf(const LogicalCollective& collective, const Participants::MemberRank& rank) {
  const bool listed = rank.group >= 0 && !collective.groups().empty();
  const int64_t members =
      listed ? std::ssize(collective.groups()[static_cast<size_t>(rank.group)]) : collective.participants->group_size;
  return {members, collective.payload_bytes, rank.position == 0 ? collective.payload_bytes : 0, rank.position};
}

// Maximum of metric(device) over all devices. Evaluates only some members of one group of each size, and pair targets.
template <class Metric>
int64_t MaxOverDevices(const LogicalCollective& collective, Metric metric) {
  int64_t max = 0;
  if (collective.groups().empty() && collective.pairs().empty()) return metric(0);
  std::set<size_t> sizes;
  for (const DeviceGroup& group : collective.groups())
    if (sizes.insert(group.size()).second)
      for (size_t i = 0; i < std::min<size_t>(group.size(), 3); ++i) max = std::max(max, metric(group[i]));
  for (auto [source, target] : collective.pairs()) max = std::max(max, metric(target));
  return max;
}

// The computations whose collectives run as part of the caller: fused computations, async computations, and
// computations that are called only from these two kinds.
class AbsorbedComputations {
 public:
  explicit AbsorbedComputations(const CallGraph& calls) {
    for (const Computation* computation : calls.ReachableFromEntry())
      if (IsAbsorbed(*computation, calls)) absorbed_.insert(computation);
    const auto& order = calls.ReachableFromEntry();
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (Contains(**it)) Collect(**it);
  }

  bool Contains(const Computation& computation) const { return absorbed_.count(&computation) > 0; }
  // The collectives that run as part of the instruction `hlo`.
  std::vector<const Instruction*> Within(const Instruction& hlo) const {
    std::vector<const Instruction*> all;
    if (!CallsComputations(hlo)) return all;
    for (const Computation* callee : CalledComputations(hlo))
      if (auto found = within_.find(callee); found != within_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    return all;
  }

 private:
  // A callee of an absorbed computation is absorbed only if it has one caller, so that no collective is listed twice.
  bool IsAbsorbed(const Computation& computation, const CallGraph& calls) const {
    const auto callers = calls.CallersOf(computation);
    auto wraps = [](const Instruction* hlo) { return IsFusion(*hlo) || WrapsComputation(*hlo); };
    if (callers.size() == 1 && Contains(*callers[0]->parent))
      return wraps(callers[0]) || IsCall(*callers[0]);
    return !callers.empty() && std::all_of(callers.begin(), callers.end(), [&](const Instruction* caller) {
      return wraps(caller) && !Contains(*caller->parent);
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
      for (const Instruction* hlo : computation->instructions) Scan(*hlo);
    for (const Computation* computation : executions_.calls().ReachableFromEntry()) {
      if (absorbed_.Contains(*computation)) continue;
      open_chains_.clear();
      for (const Instruction* hlo : computation->instructions) Visit(*hlo);
    }
    result_.mesh.emplace(module_, result_.participants);
    AddAssumptions();
    return std::move(result_);
  }

 private:
  // In the first pass, collects the collectives that begin chains, the channels of sends, and unknown custom calls.
  void Scan(const Instruction& hlo) {
    if (MayCommunicate(hlo)) unknown_calls_[std::string(TargetOf(hlo))].push_back(&hlo);
    if (IsSend(hlo)) send_channels_.insert(hlo[kChannelId]);
    if (!StartsChains(hlo)) return;
    for (const Instruction* operand : hlo.operands)
      if (std::optional<ChainKey> key = ChainOf(*operand)) {
        chain_starts_.insert(operand);
        chains_.insert(*key);
      }
  }

  void Visit(const Instruction& hlo) {
    if (IsCommunication(hlo)) Add(hlo, hlo);
    for (const Instruction* inner : absorbed_.Within(hlo)) {
      const std::optional<ChainKey> key = ChainOf(*inner);
      if (!key || chains_.count(*key) == 0) {
        Add(*inner, hlo);
      } else if (chain_starts_.count(inner) > 0) {
        open_chains_[*key] = result_.all.size();
        Add(*inner, hlo);
      } else if (auto open = open_chains_.find(*key); open != open_chains_.end()) {
        result_.all[open->second].done = &hlo;
      }
    }
  }

  void Add(const Instruction& hlo, const Instruction& start) {
    if (IsRecv(hlo) && send_channels_.count(hlo[kChannelId]) > 0) return;
    LogicalCollective collective;
    collective.hlo = &hlo;
    collective.kind = IsRecv(hlo) ? hlo.opcode : KindOf(hlo.opcode);
    collective.start = collective.done = &start;
    if (IsAsyncStart(start)) {
      const Instruction* done = regions_.DoneOf(start);
      if (done != nullptr) collective.done = done;
      if (done == nullptr) without_done_.push_back(&start);
    }
    collective.times = executions_.Of(start);
    collective.payload_bytes = PayloadOf(hlo);
    collective.participants = &result_.participants.Of(hlo);
    result_.all.push_back(collective);
  }

  void Assume(const std::vector<const Instruction*>& hlos, std::string_view assumption) {
    if (hlos.empty()) return;
    result_.assumptions.push_back(
        StrCat(hlos[0]->name, hlos.size() == 1 ? "" : StrCat(" and ", hlos.size() - 1, " more"), ": ", assumption));
  }

  // Payloads exclude padding, but arrays in TPU memory are padded to tiles.
  void AddPaddingAssumption() {
    double plain = 0, padded = 0;
    for (const LogicalCollective& collective : result_.all) {
      for (const Instruction* operand : collective.hlo->operands) {
        const Shape& shape = operand->shape();
        if (!shape.IsArray() || shape.layout() == nullptr || shape.layout()->tiles.empty()) continue;
        const double elements = static_cast<double>(shape.ElementCount().value_or(0));
        const int64_t bits = shape.layout()->element_size_in_bits;
        plain += collective.times * (bits > 0 ? elements * static_cast<double>(bits) / 8
                                              : elements * static_cast<double>(StorageBytes(shape.element_type())));
        padded += collective.times * static_cast<double>(TiledBytes(shape));
      }
    }
    if (FormatBytes(padded) != FormatBytes(plain))
      result_.assumptions.push_back(StrCat("payloads exclude tile padding: the operands of collectives take ",
                                           FormatBytes(padded), " in memory per step, of which ", FormatBytes(plain),
                                           " are elements"));
  }

  void AddAssumptions() {
    std::set<std::string> mismatches;
    std::vector<const Instruction*> ragged, rooted, dynamic, unlisted;
    bool any_async = false;
    for (const LogicalCollective& collective : result_.all) {
      any_async |= collective.async();
      if (IsRaggedExchange(*collective.hlo)) ragged.push_back(collective.hlo);
      if ((*collective.hlo)[kHasDynamicRoot]) rooted.push_back(collective.hlo);
      if (!IsPairedKind(collective.kind) && collective.groups().empty()) unlisted.push_back(collective.hlo);
      for (const Instruction* operand : collective.hlo->operands)
        if (operand->shape().IsArray() && operand->shape().has_dynamic()) dynamic.push_back(collective.hlo);
      if (!collective.participants->mismatch.empty()) mismatches.insert(collective.participants->mismatch);
    }
    for (const std::string& mismatch : mismatches)
      result_.assumptions.push_back(StrCat(mismatch, "; its ids are interpreted as device ids"));
    Assume(ragged, "the split sizes depend on data; counted as an even split over the group");
    Assume(rooted, "the root depends on data; counted as the first device of the group");
    Assume(dynamic, "sizes depend on data; counted at their upper bounds");
    Assume(unlisted, "too many devices to list; counted by group size");
    Assume(without_done_, "no matching done; counted as sync");
    AddPaddingAssumption();
    for (const auto& [target, calls] : unknown_calls_)
      Assume(calls, StrCat("the custom call ", target, " communicates in an unknown way; not counted"));
    if (any_async && !module_.is_scheduled)
      result_.assumptions.push_back("the module has no schedule: overlap is estimated from XLA's post-order");
  }

  const Module& module_;
  const ExecutionCounts& executions_;
  const AsyncRegions regions_;
  const AbsorbedComputations absorbed_;
  ModuleCollectives result_;
  std::map<std::string, std::vector<const Instruction*>> unknown_calls_;  // custom calls by target
  std::set<int64_t> send_channels_;
  std::set<const Instruction*> chain_starts_;
  std::set<ChainKey> chains_;
  std::map<ChainKey, size_t> open_chains_;  // index in result_.all, for chains of this computation
  std::vector<const Instruction*> without_done_;
};

}  // namespace

bool IsCommunication(const Instruction& hlo) { return IsCommunicationOp(hlo) && !hlo[kIsHostTransfer]; }

Traffic LogicalCollective::TrafficOn(int64_t device) const {
  const Participants::MemberRank rank = participants->MemberRankOf(device);
  if (IsPairedKind(kind))
    return {1, SaturatingMul(payload_bytes, rank.sends), SaturatingMul(payload_bytes, rank.receives)};
  if (rank.group < 0) return {};
  return {1, payload_bytes, DirectBytes(kind, ShareOf(*this, rank))};
}

int64_t LogicalCollective::RingBytes(int64_t device) const {
  const Participants::MemberRank rank = participants->MemberRankOf(device);
  if (IsPairedKind(kind)) return SaturatingMul(payload_bytes, rank.receives);
  return rank.group < 0 ? 0 : shoal::internal::RingBytes(kind, ShareOf(*this, rank));
}

int64_t LogicalCollective::MaxWireBytes() const {
  return MaxOverDevices(*this, [&](int64_t device) { return WireBytes(device); });
}
int64_t LogicalCollective::MaxRingBytes() const {
  return MaxOverDevices(*this, [&](int64_t device) { return RingBytes(device); });
}

ModuleCollectives CollectivesOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid) {
  return Ledger(module, executions, grid).Make();
}

}  // namespace shoal::internal
