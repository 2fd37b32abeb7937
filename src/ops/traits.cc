#include "ops/traits.h"

#include <algorithm>
#include <span>

namespace shoal {
namespace {

bool IsAmong(std::span<const Opcode> opcodes, const Instruction& hlo) {
  return std::find(opcodes.begin(), opcodes.end(), hlo.opcode) != opcodes.end();
}

}  // namespace

bool KeepsPrecision(const Instruction& hlo) {
  static constexpr Opcode kKeep[] = {
      Opcode::kAsyncDone,          Opcode::kBitcast, Opcode::kCall,
      Opcode::kConditional,        Opcode::kConstant, Opcode::kCopyDone,
      Opcode::kCopyStart,          Opcode::kCustomCall, Opcode::kDynamicUpdateSlice,
      Opcode::kFusion,             Opcode::kGetTupleElement, Opcode::kInfeed,
      Opcode::kOptimizationBarrier, Opcode::kOutfeed, Opcode::kParameter,
      Opcode::kRecv,               Opcode::kRecvDone, Opcode::kSend,
      Opcode::kSendDone,           Opcode::kTuple, Opcode::kWhile,
  };
  return IsAmong(kKeep, hlo);
}

bool ActsOutside(const Instruction& hlo) {
  static constexpr Opcode kAct[] = {
      Opcode::kAllGatherDone,        Opcode::kAllGatherStart,        Opcode::kAllReduceDone,
      Opcode::kAllReduceStart,       Opcode::kCollectiveBroadcast,   Opcode::kCollectivePermuteDone,
      Opcode::kCollectivePermuteStart, Opcode::kInfeed,              Opcode::kOutfeed,
      Opcode::kRecv,                 Opcode::kRecvDone,              Opcode::kRng,
      Opcode::kRngGetAndUpdateState, Opcode::kSend,                  Opcode::kSendDone,
  };
  return IsAmong(kAct, hlo) || hlo[Op<Opcode::kCustomCall>::kHasSideEffect];
}

bool IsPure(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kOpaque) return !hlo[Op<Opcode::kCustomCall>::kHasSideEffect];
  if (hlo.opcode == Opcode::kRngBitGenerator) return true;  // keeps its state in its operand
  return op_class != OpClass::kRandom && op_class != OpClass::kControlFlow && op_class != OpClass::kCollective &&
         op_class != OpClass::kTransfer && hlo.opcode != Opcode::kParameter;
}

}  // namespace shoal
