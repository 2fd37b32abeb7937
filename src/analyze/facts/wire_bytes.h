// Bytes that a device receives from others in a collective. The runtime and the collective ledger use these formulas.
#pragma once

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// The traffic of a device's collectives of one kind. `wire_bytes` is the number of bytes that the device receives from
// others if members exchange directly (DirectBytes). For n members that contribute b bytes each: all-gather (n-1)b;
// reduce-scatter and all-to-all (n-1)b/n; all-reduce 2(n-1)b/n, as a reduce-scatter and an all-gather of its parts;
// collective-broadcast b, but 0 for the root; collective-reduce (n-1)b for the root, else 0. For collective-permute,
// recv and ragged-all-to-all, it is the bytes received from other devices. A recv counts with its matching send.
struct Traffic {
  int64_t calls = 0;
  int64_t payload_bytes = 0;  // bytes of the operands
  int64_t wire_bytes = 0;
};

// A member of a group of `members`, each of which contributes `payload` bytes of operands.
struct WireShare {
  int64_t members = 1;
  int64_t payload = 0;
  int64_t rooted = 0;    // the part of the payload in operands whose root is this member
  int64_t position = 0;  // of this member in the group
};

// Bytes received if members exchange directly, as defined by Traffic. 0 for ops without groups.
int64_t DirectBytes(Opcode kind, const WireShare& share);
// Bytes received on a ring, where each member receives from the previous member.
int64_t RingBytes(Opcode kind, const WireShare& share);

// Bytes that one member sends to another if members exchange directly. The root, if any, is at position 0.
double PairBytes(Opcode kind, int64_t members, double payload, int64_t from, int64_t to);

// Bytes that one device contributes to the collective, computed from the operand shapes. For a permute: the bytes sent
// to one target.
int64_t PayloadOf(const Instruction& hlo);

}  // namespace shoal::internal
