// How many bytes a device receives from others in a collective: the formulas that the runtime counts by and that the
// ledger of collectives is made of.
#pragma once

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// What a device's collectives of one kind came to. `wire_bytes` is what the device receives from others when parts go
// the direct way (DirectBytes in analyze/facts/wire_bytes.h), with n members and a contribution of b bytes: all-gather
// (n-1)b; reduce-scatter and all-to-all (n-1)b/n; all-reduce, a reduce-scatter and an all-gather of its parts,
// 2(n-1)b/n; collective-broadcast b, but for the root 0; collective-reduce (n-1)b for the root, else 0;
// collective-permute, recv and ragged-all-to-all: what comes from other devices. A recv counts with the send it meets.
struct Traffic {
  int64_t calls = 0;
  int64_t payload_bytes = 0;  // of the operands
  int64_t wire_bytes = 0;
};

// A member of a group of `members`, each of which comes with `payload` bytes of operands.
struct WireShare {
  int64_t members = 1;
  int64_t payload = 0;
  int64_t rooted = 0;    // of the payload, what belongs to operands whose root this member is
  int64_t position = 0;  // among the members
};

// When parts go the direct way, as Traffic defines it. 0 for what has no groups.
int64_t DirectBytes(Opcode kind, const WireShare& share);
// When everything goes around a ring of the members, each receiving from the one before it.
int64_t RingBytes(Opcode kind, const WireShare& share);

// What one member sends to another the direct way; the root, where there is one, is at position 0.
double PairBytes(Opcode kind, int64_t members, double payload, int64_t from, int64_t to);

// The bytes that one device's operands bring to the collective, as its text declares them. Of a permute: what goes to
// one target.
int64_t PayloadOf(const Instruction& hlo);

}  // namespace shoal::internal
