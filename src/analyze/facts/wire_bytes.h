// Formulas for the bytes that a device receives in a collective. The runtime and `shoal comm` use the same formulas.
#pragma once

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// The traffic of a device's collectives of one kind. `wire_bytes` is the number of bytes that the device receives from
// other devices if members exchange data directly. If n members contribute b bytes each, this is (n-1)b for all-gather,
// (n-1)b/n for reduce-scatter and all-to-all, and 2(n-1)b/n for all-reduce (a reduce-scatter and an all-gather). For
// collective-broadcast, every member but the root receives b. For collective-reduce, only the root receives (n-1)b. A
// recv counts together with its matching send.
struct Traffic {
  int64_t calls = 0;
  int64_t payload_bytes = 0;  // bytes of the device's operands
  int64_t wire_bytes = 0;
};

// A member of a group. Each of the `members` contributes operands of `payload` bytes.
struct WireShare {
  int64_t members = 1;
  int64_t payload = 0;
  int64_t rooted = 0;    // bytes of the operands whose root is this member
  int64_t position = 0;  // position of this member in the group
};

// Bytes received if members exchange data directly, as defined by Traffic. Returns 0 for ops without groups.
int64_t DirectBytes(Opcode kind, const WireShare& share);
// Bytes received in a ring algorithm, where each member receives only from the previous member.
int64_t RingBytes(Opcode kind, const WireShare& share);

// Bytes that one member sends to another if members exchange data directly. The root, if any, is at position 0.
double PairBytes(Opcode kind, int64_t members, double payload, int64_t from, int64_t to);

// Bytes that one device contributes to the collective, computed from the operand shapes. For a permute, returns the
// bytes sent to one target.
int64_t PayloadOf(const Instruction& hlo);

}  // namespace shoal::internal
