// What others ask about an instruction's op, in the words of their question: so that nobody outside of ops/ has to name
// opcodes. Who hands values on is in value_flow.h, starts and dones are in async_pairs.h, which come with this.
#pragma once

#include "ops/async_pairs.h"
#include "ops/control_flow.h"
#include "ops/structure.h"
#include "ops/value_flow.h"

namespace shoal {

inline bool IsParameter(const Instruction& hlo) { return hlo.opcode == Opcode::kParameter; }
inline bool IsConstant(const Instruction& hlo) { return hlo.opcode == Opcode::kConstant; }
inline bool IsTuple(const Instruction& hlo) { return hlo.opcode == Opcode::kTuple; }
inline bool IsGetTupleElement(const Instruction& hlo) { return hlo.opcode == Opcode::kGetTupleElement; }
inline bool IsCopy(const Instruction& hlo) { return hlo.opcode == Opcode::kCopy; }
inline bool IsBitcast(const Instruction& hlo) { return hlo.opcode == Opcode::kBitcast; }
inline bool IsCall(const Instruction& hlo) { return hlo.opcode == Opcode::kCall; }
inline bool IsFusion(const Instruction& hlo) { return hlo.opcode == Opcode::kFusion; }
inline bool IsCustomCall(const Instruction& hlo) { return hlo.opcode == Opcode::kCustomCall; }
inline bool IsUnknown(const Instruction& hlo) { return hlo.opcode == Opcode::kUnknown; }
inline bool IsLoop(const Instruction& hlo) { return CallKindOf(hlo) == CallKind::kLoop; }
inline bool IsBranch(const Instruction& hlo) { return CallKindOf(hlo) == CallKind::kBranch; }
inline bool IsCollective(const Instruction& hlo) { return Info(hlo.opcode).op_class == OpClass::kCollective; }

// Of a while.
inline Computation* BodyOf(const Instruction& loop) { return loop[Op<Opcode::kWhile>::kBody]; }
inline Computation* ConditionOf(const Instruction& loop) { return loop[Op<Opcode::kWhile>::kCondition]; }
// Of a fusion.
inline FusionKind FusionKindOf(const Instruction& fusion) { return fusion[Op<Opcode::kFusion>::kKind]; }
// Of a get-tuple-element.
inline int64_t ElementIndexOf(const Instruction& hlo) { return hlo[Op<Opcode::kGetTupleElement>::kIndex]; }
// Of a custom call; empty for other ops.
inline std::string_view TargetOf(const Instruction& hlo) { return hlo[Op<Opcode::kCustomCall>::kTarget]; }
// The op's name as the text has it, also where we do not know the op.
inline std::string_view OpcodeTextOf(const Instruction& hlo) {
  return hlo.opcode == Opcode::kUnknown ? hlo[kUnknownOpcode] : Text(hlo.opcode);
}

// Hands data on without computing it, so that the precision of floats must stay as well. Any other op may be declared
// in another precision than its operands give: XLA's passes between bf16 and f32 do that.
bool KeepsPrecision(const Instruction& hlo);
// Acts on something outside of the program, or on the state of a generator: there for what it does, not for its result.
bool ActsOutside(const Instruction& hlo);
// Does nothing but give its value, which its operands determine.
bool IsPure(const Instruction& hlo);

}  // namespace shoal
