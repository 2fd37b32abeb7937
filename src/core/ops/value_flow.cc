#include "core/ops/value_flow.h"

#include <algorithm>

#include "core/ops/families.h"

namespace shoal::internal {

Forwarding ForwardingOf(const Instruction& hlo) {
  switch (hlo.opcode) {
    case Opcode::kOptimizationBarrier:
      return Forwarding::kSame;
    case Opcode::kCustomCall:
      return !hlo.operands.empty() && IsAnnotation(hlo) ? Forwarding::kSame : Forwarding::kNothing;
    case Opcode::kAddDependency:
      return Forwarding::kAddDependency;
    case Opcode::kDomain:
      return Forwarding::kDomain;
    case Opcode::kAsyncUpdate:
      return Forwarding::kAsyncUpdate;
    case Opcode::kBitcast:
      return Forwarding::kBitcast;
    case Opcode::kReshape:
      return Forwarding::kReshaped;
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
      return Forwarding::kRearranged;
    case Opcode::kCopy:
      return Forwarding::kCopied;
    case Opcode::kConvert:
      return Forwarding::kConverted;
    case Opcode::kGetTupleElement:
      return Forwarding::kTupleElement;
    case Opcode::kTuple:
      return Forwarding::kTuple;
    case Opcode::kParameter:
      return Forwarding::kArgument;
    case Opcode::kCall:
      return Forwarding::kCalled;
    case Opcode::kFusion:
      return Forwarding::kFused;
    case Opcode::kWhile:
      return Forwarding::kLoopState;
    case Opcode::kConditional:
      return Forwarding::kBranch;
    default:
      return Forwarding::kNothing;
  }
}

bool TraceToOperand(ValueRef& value, Forwarding through) {
  constexpr Forwarding kCrossComputation =
      Forwarding::kArgument | Forwarding::kCalled | Forwarding::kFused | Forwarding::kLoopState | Forwarding::kBranch;
  const Instruction& hlo = *value.hlo;
  const Forwarding forwarding = ForwardingOf(hlo);
  if (!Has(through, forwarding) || Has(kCrossComputation, forwarding) || hlo.operands.empty()) return false;
  if (forwarding == Forwarding::kTuple) {
    if (value.path.empty() || value.path[0] < 0 || value.path[0] >= std::ssize(hlo.operands)) return false;
    value.hlo = hlo.operands[static_cast<size_t>(value.path[0])];
    value.path.erase(value.path.begin());
    return true;
  }
  if (forwarding == Forwarding::kTupleElement)
    value.path.insert(value.path.begin(), hlo[Op<Opcode::kGetTupleElement>::kIndex]);
  value.hlo = hlo.operands[0];
  return true;
}

ValueRef DefiningValue(ValueRef value, Forwarding through) {
  while (TraceToOperand(value, through)) {
  }
  return value;
}

const Instruction* ArgumentOf(const Instruction& caller, const Computation& callee, int64_t number) {
  const CallKind kind = CallKindOf(caller);
  auto at = static_cast<size_t>(number);
  if (kind == CallKind::kBranch) {
    const std::vector<Computation*> branches = CalledComputations(caller);
    if (std::count(branches.begin(), branches.end(), &callee) != 1) return nullptr;
    at = 1 + static_cast<size_t>(std::find(branches.begin(), branches.end(), &callee) - branches.begin());
  } else if (kind != CallKind::kOnce) {
    return nullptr;
  }
  return at < caller.operand_count() ? caller.operands[at] : nullptr;
}

const Computation* CalleeRunOnce(const Instruction& hlo) {
  const Computation* callee = nullptr;
  if (hlo.opcode == Opcode::kCall) callee = hlo[kToApply];
  if (hlo.opcode == Opcode::kFusion || hlo.opcode == Opcode::kAsyncStart) callee = hlo[kCalls];
  return callee == nullptr || callee->root == nullptr ? nullptr : callee;
}

}  // namespace shoal::internal
