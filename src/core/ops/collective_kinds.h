// Properties of the kinds of collectives: their participants, and their effect on a dimension.
#pragma once

#include <optional>

#include "core/ir/module.h"

namespace shoal::internal {

// True for ops that communicate between devices: collectives, send, recv, and the starts of their async pairs.
bool IsCommunicationOp(const Instruction& hlo);
// True for kinds that communicate between a source and a target: collective-permute, send and recv.
bool IsPairedKind(Opcode kind);
// True for all-reduce and all-reduce-start.
bool IsAllReduce(const Instruction& hlo);
// True for collective-permute, collective-permute-start, send and recv.
bool IsPointToPoint(const Instruction& hlo);
// True for synchronous ops that can be merged into one with a tuple result: all-reduce, all-gather, reduce-scatter.
bool IsCombinable(const Instruction& hlo);
// True for synchronous reductions whose result type is that of their operands: all-reduce, reduce-scatter.
bool ReducesOverDevices(const Instruction& hlo);
// Predicates on kinds, as KindOf in async_pairs.h returns them.
bool IsSendKind(Opcode kind);
bool IsAllReduceKind(Opcode kind);
bool IsAllGatherKind(Opcode kind);
bool IsAllToAllKind(Opcode kind);  // ragged or not
// The kind in which each member receives only its part of the result: reduce-scatter for all-reduce, else `kind`.
Opcode ScatteringKind(Opcode kind);
// send, recv
bool IsSend(const Instruction& hlo);
bool IsRecv(const Instruction& hlo);
bool IsRaggedExchange(const Instruction& hlo);

// Requirements on the replica groups; no value for ops without groups.
struct GroupRules {
  bool uniform = true;  // all groups have the same size
  bool all = true;      // every device is in a group
};
std::optional<GroupRules> GroupRulesOf(const Instruction& hlo);
bool MayExcludeDevices(const Instruction& hlo);
// True for a synchronous collective whose result is identical on all members of a group.
bool HasUniformResult(const Instruction& hlo);

// Effect of a collective on the members' elements along a dimension.
enum class DimensionEffect : uint8_t { kNothing, kGathers, kScatters, kExchanges };
DimensionEffect DimensionEffectOf(const Instruction& hlo);

// partition-id, replica-id
bool IsPartitionId(const Instruction& hlo);
bool IsReplicaId(const Instruction& hlo);

}  // namespace shoal::internal
