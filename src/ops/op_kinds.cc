#include "ops/op_kinds.h"

#include <algorithm>
#include <span>
#include <utility>

namespace shoal {
namespace {

bool IsOneOf(std::span<const Opcode> opcodes, const Instruction& hlo) {
  return std::find(opcodes.begin(), opcodes.end(), hlo.opcode) != opcodes.end();
}

}  // namespace

bool BeginsCollective(const Instruction& hlo) {
  static constexpr Opcode kIds[] = {Opcode::kPartitionId, Opcode::kReplicaId};
  return IsCollective(hlo) && !IsAsyncDone(hlo) && !IsOneOf(kIds, hlo);
}

const Shape& ResultShape(const Instruction& hlo) {
  const std::optional<int64_t> part = StartPartsOf(hlo).result;
  const bool has_part = part && hlo.shape().IsTuple() && *part < std::ssize(hlo.shape().elements());
  return has_part ? hlo.shape().element(*part) : hlo.shape();
}

bool IsFromNothing(const Instruction& hlo) {
  static constexpr Opcode kFromNothing[] = {Opcode::kConstant, Opcode::kIota, Opcode::kPartitionId, Opcode::kReplicaId};
  if (hlo.opcode == Opcode::kBroadcast && hlo.operand_count() == 1)
    return IsConstant(*hlo.operands[0]) || hlo.operands[0]->opcode == Opcode::kIota;
  return IsOneOf(kFromNothing, hlo);
}

bool IsSeldomShown(const Instruction& hlo) {
  static constexpr Opcode kSeldom[] = {Opcode::kMap, Opcode::kPartitionId, Opcode::kReduce, Opcode::kReplicaId,
                                       Opcode::kRngGetAndUpdateState};
  return IsOneOf(kSeldom, hlo);
}

bool HasPricedOperands(const Instruction& hlo) {
  // Of ops with any number of operands: how many their prices look at.
  static constexpr std::pair<Opcode, size_t> kLeast[] = {{Opcode::kDynamicSlice, 2}, {Opcode::kDynamicUpdateSlice, 3},
                                                         {Opcode::kReduce, 1},       {Opcode::kReduceWindow, 1},
                                                         {Opcode::kScatter, 3},      {Opcode::kSort, 1}};
  if (static_cast<int64_t>(hlo.operand_count()) < Info(hlo.opcode).arity) return false;
  return std::none_of(std::begin(kLeast), std::end(kLeast), [&](const auto& least) {
    return least.first == hlo.opcode && hlo.operand_count() < least.second;
  });
}

}  // namespace shoal
