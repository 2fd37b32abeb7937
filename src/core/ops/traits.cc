#include "core/ops/traits.h"

#include <algorithm>
#include <span>
#include <utility>

namespace shoal::internal {
namespace {

bool IsAmong(std::span<const Opcode> opcodes, const Instruction& hlo) {
  return std::find(opcodes.begin(), opcodes.end(), hlo.opcode) != opcodes.end();
}

}  // namespace

bool KeepsPrecision(const Instruction& hlo) {
  static constexpr Opcode kForwarding[] = {
      Opcode::kAsyncDone,          Opcode::kBitcast, Opcode::kCall,
      Opcode::kConditional,        Opcode::kConstant, Opcode::kCopyDone,
      Opcode::kCopyStart,          Opcode::kCustomCall, Opcode::kDynamicUpdateSlice,
      Opcode::kFusion,             Opcode::kGetTupleElement, Opcode::kInfeed,
      Opcode::kOptimizationBarrier, Opcode::kOutfeed, Opcode::kParameter,
      Opcode::kRecv,               Opcode::kRecvDone, Opcode::kSend,
      Opcode::kSendDone,           Opcode::kTuple, Opcode::kWhile,
  };
  return IsAmong(kForwarding, hlo);
}

bool IsScalarCast(const Instruction& hlo) {
  const bool is_cast = hlo.opcode == Opcode::kBitcast || hlo.opcode == Opcode::kBitcastConvert;
  return is_cast && hlo.shape().IsScalar() && hlo.operand_shape(0).IsScalar() &&
         BitWidth(hlo.shape().element_type()) == BitWidth(hlo.operand_shape(0).element_type());
}

bool HasSideEffect(const Instruction& hlo) {
  static constexpr Opcode kWithEffect[] = {
      Opcode::kAllGatherDone,        Opcode::kAllGatherStart,        Opcode::kAllReduceDone,
      Opcode::kAllReduceStart,       Opcode::kCollectiveBroadcast,   Opcode::kCollectivePermuteDone,
      Opcode::kCollectivePermuteStart, Opcode::kInfeed,              Opcode::kOutfeed,
      Opcode::kRecv,                 Opcode::kRecvDone,              Opcode::kRng,
      Opcode::kRngGetAndUpdateState, Opcode::kSend,                  Opcode::kSendDone,
  };
  return IsAmong(kWithEffect, hlo) || hlo[Op<Opcode::kCustomCall>::kHasSideEffect];
}

bool IsPure(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kOpaque) return !hlo[Op<Opcode::kCustomCall>::kHasSideEffect];
  if (hlo.opcode == Opcode::kRngBitGenerator) return true;  // keeps its state in its operand
  return op_class != OpClass::kRandom && op_class != OpClass::kControlFlow && op_class != OpClass::kCollective &&
         op_class != OpClass::kTransfer && hlo.opcode != Opcode::kParameter;
}

bool StartsCollective(const Instruction& hlo) {
  static constexpr Opcode kIds[] = {Opcode::kPartitionId, Opcode::kReplicaId};
  return IsCollective(hlo) && !IsAsyncDone(hlo) && !IsAmong(kIds, hlo);
}

bool AcceptsPending(const Instruction& hlo) {
  switch (Info(hlo.opcode).op_class) {
    case OpClass::kCollective:
      return !StartsCollective(hlo);  // a done, which waits for the pending value
    case OpClass::kControlFlow:
    case OpClass::kStructure:
    case OpClass::kTransfer:
      return true;
    default:
      return false;
  }
}

const Shape& ResultShape(const Instruction& hlo) {
  const std::optional<int64_t> part = StartPartsOf(hlo).result;
  const bool has_part = part && hlo.shape().IsTuple() && *part < std::ssize(hlo.shape().elements());
  return has_part ? hlo.shape().element(*part) : hlo.shape();
}

bool IsRematerializable(const Instruction& hlo) {
  static constexpr Opcode kSources[] = {Opcode::kConstant, Opcode::kIota, Opcode::kPartitionId, Opcode::kReplicaId};
  if (hlo.opcode == Opcode::kBroadcast && hlo.operand_count() == 1)
    return IsConstant(*hlo.operands[0]) || hlo.operands[0]->opcode == Opcode::kIota;
  return IsAmong(kSources, hlo);
}

bool IsHiddenByDefault(const Instruction& hlo) {
  static constexpr Opcode kHidden[] = {Opcode::kMap, Opcode::kPartitionId, Opcode::kReduce, Opcode::kReplicaId,
                                       Opcode::kRngGetAndUpdateState};
  return IsAmong(kHidden, hlo);
}

bool HasCostInputs(const Instruction& hlo) {
  // For ops with a variable number of operands, the number that their cost function reads.
  static constexpr std::pair<Opcode, size_t> kMinOperands[] = {
      {Opcode::kDynamicSlice, 2}, {Opcode::kDynamicUpdateSlice, 3}, {Opcode::kReduce, 1}, {Opcode::kReduceWindow, 1},
      {Opcode::kScatter, 3},      {Opcode::kSort, 1}};
  if (static_cast<int64_t>(hlo.operand_count()) < Info(hlo.opcode).arity) return false;
  for (const auto& [opcode, operands] : kMinOperands)
    if (opcode == hlo.opcode && hlo.operand_count() < operands) return false;
  return std::ranges::none_of(Info(hlo.opcode).attrs, [&](const AttrDef& def) {
    const bool needed = def.required && (def.not_required_if == nullptr || !def.not_required_if(hlo));
    return needed && hlo.Find(def.id) == nullptr;
  });
}

}  // namespace shoal::internal
