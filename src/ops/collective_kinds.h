// What sets the kinds of collectives apart: whom they join, and what they do with a dimension.
#pragma once

#include <optional>

#include "ir/module.h"

namespace shoal {

// Between devices: a collective or a transfer, in one part or its start.
bool IsCommunicationOp(const Instruction& hlo);
// Of those, the ones that name a source and a target; recv counts as well.
bool IsPairedKind(Opcode kind);
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

// What happens to the elements of the members along a dimension.
enum class Splits : uint8_t { kNothing, kGathers, kScatters, kExchanges };
Splits SplitsOf(const Instruction& hlo);

// partition-id, replica-id
bool IsPartitionId(const Instruction& hlo);
bool IsReplicaId(const Instruction& hlo);

}  // namespace shoal
