#include "core/ops/fusion_label_ops.h"

#include <algorithm>
#include <initializer_list>

#include "core/ops/opcode.h"

namespace shoal::internal {
namespace {

bool IsOneOf(const Instruction& hlo, std::initializer_list<Opcode> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), hlo.opcode) != opcodes.end();
}

}  // namespace

bool MovesElements(const Instruction& hlo) {
  return IsOneOf(hlo, {Opcode::kTranspose, Opcode::kConcatenate, Opcode::kPad, Opcode::kReverse,
                       Opcode::kDynamicUpdateSlice, Opcode::kDynamicSlice, Opcode::kCopy});
}
bool IsTrivialOp(const Instruction& hlo) {
  return IsOneOf(hlo, {Opcode::kConvert, Opcode::kSlice, Opcode::kBroadcast, Opcode::kIota, Opcode::kReshape,
                       Opcode::kBitcast});
}
bool IsTypeOrLayoutChange(const Instruction& hlo) {
  return IsOneOf(hlo, {Opcode::kBroadcast, Opcode::kBitcast, Opcode::kReshape, Opcode::kConvert, Opcode::kCopy});
}
bool IsNamedFunction(const Instruction& hlo) {
  return IsOneOf(hlo, {Opcode::kExp, Opcode::kLog, Opcode::kTanh, Opcode::kLogistic, Opcode::kErf, Opcode::kRsqrt,
                       Opcode::kSqrt, Opcode::kPower, Opcode::kSin, Opcode::kCos});
}
bool IsMaximum(const Instruction& hlo) { return hlo.opcode == Opcode::kMaximum; }
bool IsSum(const Instruction& hlo) { return hlo.opcode == Opcode::kAdd; }
bool IsMemoryBoundReduction(const Instruction& hlo) { return IsOneOf(hlo, {Opcode::kReduce, Opcode::kReduceWindow}); }
bool IsIndexedRead(const Instruction& hlo) { return hlo.opcode == Opcode::kDynamicSlice; }

}  // namespace shoal::internal
