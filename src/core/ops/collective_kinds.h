// What sets the kinds of collectives apart: whom they join, and what they do with a dimension.
#pragma once

#include <optional>

#include "core/ir/module.h"

namespace shoal::internal {

// Between devices: a collective or a transfer, in one part or its start.
bool IsCommunicationOp(const Instruction& hlo);
// Of those, the ones that name a source and a target; recv counts as well.
bool IsPairedKind(Opcode kind);
// In one part, or any part of it.
bool IsAllReduce(const Instruction& hlo);
// A source and a target each.
bool IsPointToPoint(const Instruction& hlo);
// May be made of arrays in a tuple of one: all-reduce, all-gather and reduce-scatter, in one part.
bool IsCombinable(const Instruction& hlo);
// Of a kind (async_pairs.h).
bool IsSendKind(Opcode kind);
bool IsAllReduceKind(Opcode kind);
bool IsAllGatherKind(Opcode kind);
bool IsAllToAllKind(Opcode kind);  // ragged or not
// What gives each member its part of what `kind` would give to all: reduce-scatter for all-reduce.
Opcode ScatteringKind(Opcode kind);
// send, recv
bool IsSend(const Instruction& hlo);
bool IsRecv(const Instruction& hlo);
bool IsRaggedExchange(const Instruction& hlo);

// What its replica groups must be; no value for ops without groups.
struct GroupRules {
  bool uniform = true;  // all groups have one size
  bool all = true;      // every device is in a group
};
std::optional<GroupRules> GroupRulesOf(const Instruction& hlo);
bool LeavesDevicesOut(const Instruction& hlo);
// Its value, in one part or from its done, is the same for all members of a group.
bool HasUniformResult(const Instruction& hlo);

// What happens to the elements of the members along a dimension.
enum class DimensionEffect : uint8_t { kNothing, kGathers, kScatters, kExchanges };
DimensionEffect SplitsOf(const Instruction& hlo);

// partition-id, replica-id
bool IsPartitionId(const Instruction& hlo);
bool IsReplicaId(const Instruction& hlo);

}  // namespace shoal::internal
