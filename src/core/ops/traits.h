// What others ask about an instruction's op, in the words of their question: so that nobody outside of ops/ has to name
// opcodes. Who hands values on is in value_flow.h, starts and dones are in async_pairs.h, which come with this; what sets
// collectives apart is in collective_kinds.h, what an op's attributes say beside the op.
#pragma once

#include "core/ops/async_pairs.h"
#include "core/ops/control_flow.h"
#include "core/ops/structure.h"
#include "core/ops/value_flow.h"

namespace shoal::internal {

inline bool IsParameter(const Instruction& hlo) { return hlo.opcode == Opcode::kParameter; }
inline bool IsConstant(const Instruction& hlo) { return hlo.opcode == Opcode::kConstant; }
inline bool IsTuple(const Instruction& hlo) { return hlo.opcode == Opcode::kTuple; }
inline bool IsGetTupleElement(const Instruction& hlo) { return hlo.opcode == Opcode::kGetTupleElement; }
inline bool IsCopy(const Instruction& hlo) { return hlo.opcode == Opcode::kCopy; }
inline bool IsBitcast(const Instruction& hlo) { return hlo.opcode == Opcode::kBitcast; }
inline bool IsReshape(const Instruction& hlo) { return hlo.opcode == Opcode::kReshape; }
inline bool IsTranspose(const Instruction& hlo) { return hlo.opcode == Opcode::kTranspose; }
inline bool IsBroadcast(const Instruction& hlo) { return hlo.opcode == Opcode::kBroadcast; }
inline bool IsDot(const Instruction& hlo) { return hlo.opcode == Opcode::kDot; }
inline bool IsConvert(const Instruction& hlo) { return hlo.opcode == Opcode::kConvert; }
inline bool IsCompare(const Instruction& hlo) { return hlo.opcode == Opcode::kCompare; }
inline bool IsSelect(const Instruction& hlo) { return hlo.opcode == Opcode::kSelect; }
inline bool IsDynamicSlice(const Instruction& hlo) { return hlo.opcode == Opcode::kDynamicSlice; }
inline bool IsDynamicUpdateSlice(const Instruction& hlo) { return hlo.opcode == Opcode::kDynamicUpdateSlice; }
inline bool IsScatter(const Instruction& hlo) { return hlo.opcode == Opcode::kScatter; }
inline bool IsReduce(const Instruction& hlo) { return hlo.opcode == Opcode::kReduce; }
inline bool IsReduceWindow(const Instruction& hlo) { return hlo.opcode == Opcode::kReduceWindow; }
inline bool IsSort(const Instruction& hlo) { return hlo.opcode == Opcode::kSort; }
inline bool IsCall(const Instruction& hlo) { return hlo.opcode == Opcode::kCall; }
inline bool IsFusion(const Instruction& hlo) { return hlo.opcode == Opcode::kFusion; }
inline bool IsCustomCall(const Instruction& hlo) { return hlo.opcode == Opcode::kCustomCall; }
inline bool IsUnknown(const Instruction& hlo) { return hlo.opcode == Opcode::kUnknown; }
inline bool IsLoop(const Instruction& hlo) { return CallKindOf(hlo) == CallKind::kLoop; }
inline bool IsBranch(const Instruction& hlo) { return CallKindOf(hlo) == CallKind::kBranch; }
inline bool IsCollective(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kCollective; }
inline bool IsElementwise(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kElementwise; }
// An async-start, whatever the text calls it: runs a computation while others go on.
inline bool WrapsComputation(const Instruction& hlo) { return hlo.opcode == Opcode::kAsyncStart; }
// copy-start and copy-done.
inline bool IsAsyncCopy(const Instruction& hlo) {
  return hlo.opcode == Opcode::kCopyStart || hlo.opcode == Opcode::kCopyDone;
}

// Of a while.
inline Computation* BodyOf(const Instruction& loop) { return loop[Op<Opcode::kWhile>::kBody]; }
inline Computation* ConditionOf(const Instruction& loop) { return loop[Op<Opcode::kWhile>::kCondition]; }
// Of a fusion.
inline FusionKind FusionKindOf(const Instruction& fusion) { return fusion[Op<Opcode::kFusion>::kKind]; }
// Of a conditional: chosen by a predicate, not by a number.
inline bool HasPredicate(const Instruction& branch) { return Op<Opcode::kConditional>::HasPredicate(branch); }
// Of a get-tuple-element, and the attribute that says it.
inline constexpr auto& kElementIndex = Op<Opcode::kGetTupleElement>::kIndex;
inline int64_t ElementIndexOf(const Instruction& hlo) { return hlo[Op<Opcode::kGetTupleElement>::kIndex]; }
// Of a custom call; empty for other ops.
inline std::string_view TargetOf(const Instruction& hlo) { return hlo[Op<Opcode::kCustomCall>::kTarget]; }
// A custom call that its writer wants to be run for what it does.
inline bool CustomCallHasSideEffect(const Instruction& call) { return call[Op<Opcode::kCustomCall>::kHasSideEffect]; }
// The op of that name, or the one that stands for all that are not known.
inline Opcode OpcodeOf(std::string_view name) { return ParseOpcode(name).value_or(Opcode::kUnknown); }
// The op's name as the text has it, also where we do not know the op.
inline std::string_view OpcodeTextOf(const Instruction& hlo) {
  return hlo.opcode == Opcode::kUnknown ? hlo[kUnknownOpcode] : Text(hlo.opcode);
}

// Hands data on without computing it, so that the precision of floats must stay as well. Any other op may be declared
// in another precision than its operands give: XLA's passes between bf16 and f32 do that.
bool KeepsPrecision(const Instruction& hlo);
// Acts on something outside of the program, or on the state of a generator: there for what it does, not for its result.
bool HasSideEffect(const Instruction& hlo);
// Does nothing but give its value, which its operands determine.
bool IsPure(const Instruction& hlo);

// Meets other devices: a collective in one part, or the start of one.
bool StartsCollective(const Instruction& hlo);
// Hands a value on, or waits for it: it may be given one that is under way.
bool AcceptsPending(const Instruction& hlo);
// The value of the op itself: of a start, what its done will give.
const Shape& ResultShape(const Instruction& hlo);

// Reads nothing and is cheap: may run wherever its value is wanted.
bool IsRematerializable(const Instruction& hlo);
// Heavy or not, nobody who wants to see what a program does looks for it: reduce and map are shown as what they apply.
bool IsHiddenByDefault(const Instruction& hlo);
// Loose text may leave out operands and attributes; whether it has all that its price looks at.
bool HasCostInputs(const Instruction& hlo);

}  // namespace shoal::internal
