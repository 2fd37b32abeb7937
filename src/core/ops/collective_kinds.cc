#include "core/ops/collective_kinds.h"

#include "core/ops/traits.h"

namespace shoal::internal {

bool IsCommunicationOp(const Instruction& hlo) {
  return IsPairedKind(KindOf(hlo.opcode)) || GroupRulesOf(hlo).has_value();
}

bool IsPairedKind(Opcode kind) {
  return kind == Opcode::kCollectivePermute || kind == Opcode::kSend || kind == Opcode::kRecv;
}

bool IsAllReduce(const Instruction& hlo) { return IsAllReduceKind(KindOf(hlo.opcode)); }

bool IsPointToPoint(const Instruction& hlo) {
  const Opcode kind = KindOf(hlo.opcode);
  return kind == Opcode::kCollectivePermute || kind == Opcode::kSend;
}

bool ReducesOverDevices(const Instruction& hlo) {
  return hlo.opcode == Opcode::kAllReduce || hlo.opcode == Opcode::kReduceScatter;
}

bool IsCombinable(const Instruction& hlo) {
  return hlo.opcode == Opcode::kAllReduce || hlo.opcode == Opcode::kAllGather || hlo.opcode == Opcode::kReduceScatter;
}

bool IsSendKind(Opcode kind) { return kind == Opcode::kSend; }
bool IsAllReduceKind(Opcode kind) { return kind == Opcode::kAllReduce; }
bool IsAllGatherKind(Opcode kind) { return kind == Opcode::kAllGather; }
bool IsAllToAllKind(Opcode kind) { return kind == Opcode::kAllToAll || kind == Opcode::kRaggedAllToAll; }
Opcode ScatteringKind(Opcode kind) { return kind == Opcode::kAllReduce ? Opcode::kReduceScatter : kind; }

bool IsSend(const Instruction& hlo) { return hlo.opcode == Opcode::kSend; }
bool IsRecv(const Instruction& hlo) { return hlo.opcode == Opcode::kRecv; }
bool IsRaggedExchange(const Instruction& hlo) { return hlo.opcode == Opcode::kRaggedAllToAll; }

std::optional<GroupRules> GroupRulesOf(const Instruction& hlo) {
  switch (KindOf(hlo.opcode)) {
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return GroupRules{};
    case Opcode::kAllReduce:
    case Opcode::kCollectiveReduce:
      return GroupRules{.uniform = false};
    case Opcode::kCollectiveBroadcast:
      return GroupRules{.uniform = false, .all = false};
    default:
      return std::nullopt;
  }
}

bool MayExcludeDevices(const Instruction& hlo) {
  const std::optional<GroupRules> rules = GroupRulesOf(hlo);
  return rules && !rules->all;
}

bool HasUniformResult(const Instruction& hlo) {
  const Opcode kind = KindOf(hlo.opcode);
  const bool same = kind == Opcode::kAllGather || kind == Opcode::kAllReduce || kind == Opcode::kCollectiveBroadcast;
  return same && !IsAsyncStart(hlo);
}

DimensionEffect DimensionEffectOf(const Instruction& hlo) {
  switch (KindOf(hlo.opcode)) {
    case Opcode::kAllGather:
      return DimensionEffect::kGathers;
    case Opcode::kReduceScatter:
      return DimensionEffect::kScatters;
    case Opcode::kAllToAll:
      return DimensionEffect::kExchanges;
    default:
      return DimensionEffect::kNothing;
  }
}

bool IsPartitionId(const Instruction& hlo) { return hlo.opcode == Opcode::kPartitionId; }
bool IsReplicaId(const Instruction& hlo) { return hlo.opcode == Opcode::kReplicaId; }

}  // namespace shoal::internal
