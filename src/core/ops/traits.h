// Queries about an instruction's op, so that code outside core/ops does not name opcodes. This header includes
// value_flow.h, for forwarding, and async_pairs.h, for starts and dones. Properties of collectives are in
// collective_kinds.h; properties of an op's attributes are beside the op.
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
inline bool IsContraction(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kContraction; }
inline bool IsElementwise(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kElementwise; }
// True for async-start, which runs a computation asynchronously, under any name that the text has for it.
inline bool WrapsComputation(const Instruction& hlo) { return hlo.opcode == Opcode::kAsyncStart; }
// True for copy-start and copy-done.
inline bool IsAsyncCopy(const Instruction& hlo) {
  return hlo.opcode == Opcode::kCopyStart || hlo.opcode == Opcode::kCopyDone;
}

// The computations of a while.
inline Computation* BodyOf(const Instruction& loop) { return loop[Op<Opcode::kWhile>::kBody]; }
inline Computation* ConditionOf(const Instruction& loop) { return loop[Op<Opcode::kWhile>::kCondition]; }
// The kind of a fusion.
inline FusionKind FusionKindOf(const Instruction& fusion) { return fusion[Op<Opcode::kFusion>::kKind]; }
// True if a predicate, not an index, selects the branch of a conditional.
inline bool HasPredicate(const Instruction& branch) { return Op<Opcode::kConditional>::HasPredicate(branch); }
// The index of a get-tuple-element, and its attribute.
inline constexpr auto& kElementIndex = Op<Opcode::kGetTupleElement>::kIndex;
inline int64_t ElementIndexOf(const Instruction& hlo) { return hlo[Op<Opcode::kGetTupleElement>::kIndex]; }
// The target of a custom call; empty for other ops.
inline std::string_view TargetOf(const Instruction& hlo) { return hlo[Op<Opcode::kCustomCall>::kTarget]; }
// True if a custom call is declared to have a side effect.
inline bool CustomCallHasSideEffect(const Instruction& call) { return call[Op<Opcode::kCustomCall>::kHasSideEffect]; }
// The opcode with that name; kUnknown if there is none.
inline Opcode OpcodeOf(std::string_view name) { return ParseOpcode(name).value_or(Opcode::kUnknown); }
// The op's name in the text, even for unknown ops.
inline std::string_view OpcodeTextOf(const Instruction& hlo) {
  return hlo.opcode == Opcode::kUnknown ? hlo[kUnknownOpcode] : Text(hlo.opcode);
}

// True if the op forwards data without computing, so that the precision of floats must not change. Any other op may
// declare another precision than its operands: XLA's passes that convert between bf16 and f32 rely on this.
bool KeepsPrecision(const Instruction& hlo);
// True for a scalar whose bits become a scalar of another type: bitcast, bitcast-convert.
bool IsScalarCast(const Instruction& hlo);
// True if the op must run even if its result is unused: it affects the outside world or the state of a generator.
bool HasSideEffect(const Instruction& hlo);
// True if the op only computes its value, and its operands determine that value.
bool IsPure(const Instruction& hlo);

// True if the op starts communication with other devices: a synchronous collective, or the start of an async one.
bool StartsCollective(const Instruction& hlo);
// True if the operand may be a pending value, because the op only forwards it or waits for it.
bool AcceptsPending(const Instruction& hlo);
// The shape of the result; for a start, the shape of the result that its done returns.
const Shape& ResultShape(const Instruction& hlo);

// True if the op is cheap and independent of other values, so that it may be recomputed wherever it is used.
bool IsRematerializable(const Instruction& hlo);
// True for ops that the overview of a program omits even if they are expensive: partition-id, replica-id, map, reduce.
bool IsHiddenByDefault(const Instruction& hlo);
// True if the op has all operands and attributes that its cost reads. Loose text may omit some.
bool HasCostInputs(const Instruction& hlo);

}  // namespace shoal::internal
