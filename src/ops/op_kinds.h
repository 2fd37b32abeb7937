// What fewer ask about an instruction's op than what is in traits.h, which comes with this.
#pragma once

#include "ops/elementwise.h"
#include "ops/traits.h"

namespace shoal {

inline bool IsCompare(const Instruction& hlo) { return hlo.opcode == Opcode::kCompare; }
inline bool IsSort(const Instruction& hlo) { return hlo.opcode == Opcode::kSort; }
inline bool IsAllReduce(const Instruction& hlo) { return KindOf(hlo.opcode) == Opcode::kAllReduce; }
// Collectives that a device may be left out of, and those of a source and a target each.
inline bool LeavesDevicesOut(const Instruction& hlo) { return hlo.opcode == Opcode::kCollectiveBroadcast; }
inline bool IsPointToPoint(const Instruction& hlo) {
  const Opcode kind = KindOf(hlo.opcode);
  return kind == Opcode::kCollectivePermute || kind == Opcode::kSend;
}
// An async-start, whatever the text calls it: runs a computation while others go on.
inline bool WrapsComputation(const Instruction& hlo) { return hlo.opcode == Opcode::kAsyncStart; }
// copy-start and copy-done.
inline bool IsAsyncCopy(const Instruction& hlo) {
  return hlo.opcode == Opcode::kCopyStart || hlo.opcode == Opcode::kCopyDone;
}

// Of a conditional: chosen by a predicate, not by a number.
inline bool HasPredicate(const Instruction& branch) { return Op<Opcode::kConditional>::HasPredicate(branch); }
// Of a get-tuple-element: the attribute that says which.
inline constexpr auto& kElementIndex = Op<Opcode::kGetTupleElement>::kIndex;
// Of a compare.
inline ComparisonDirection DirectionOf(const Instruction& hlo) { return hlo[Op<Opcode::kCompare>::kDirection]; }
// A custom call that its writer wants to be run for what it does.
inline bool HasSideEffect(const Instruction& call) { return call[Op<Opcode::kCustomCall>::kHasSideEffect]; }
// The op of that name, or the one that stands for all that are not known.
inline Opcode OpcodeOf(std::string_view name) { return OpcodeNamed(name).value_or(Opcode::kUnknown); }

// Meets other devices: a collective in one part, or the start of one.
bool BeginsCollective(const Instruction& hlo);
// The value of the op itself: of a start, what its done will give.
const Shape& ResultShape(const Instruction& hlo);

// Reads nothing and is cheap: may run wherever its value is wanted.
bool IsFromNothing(const Instruction& hlo);
// Heavy or not, nobody who wants to see what a program does looks for it: reduce and map are shown as what they apply.
bool IsSeldomShown(const Instruction& hlo);
// Loose text may leave out operands; whether it has as many as its price looks at.
bool HasPricedOperands(const Instruction& hlo);

}  // namespace shoal
