#include "core/ops/value_flow.h"

#include <algorithm>

#include "core/ops/families.h"

namespace shoal {

Hands HandsOn(const Instruction& hlo) {
  switch (hlo.opcode) {
    case Opcode::kOptimizationBarrier:
      return Hands::kSame;
    case Opcode::kCustomCall:
      return !hlo.operands.empty() && IsRemark(hlo) ? Hands::kSame : Hands::kNothing;
    case Opcode::kAddDependency:
      return Hands::kOrdered;
    case Opcode::kDomain:
      return Hands::kMarked;
    case Opcode::kAsyncUpdate:
      return Hands::kContinued;
    case Opcode::kBitcast:
      return Hands::kBitcast;
    case Opcode::kReshape:
      return Hands::kReshaped;
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
      return Hands::kSpread;
    case Opcode::kCopy:
      return Hands::kCopied;
    case Opcode::kConvert:
      return Hands::kConverted;
    case Opcode::kGetTupleElement:
      return Hands::kPart;
    case Opcode::kTuple:
      return Hands::kPacked;
    case Opcode::kParameter:
      return Hands::kArgument;
    case Opcode::kCall:
      return Hands::kCalled;
    case Opcode::kFusion:
      return Hands::kFused;
    case Opcode::kWhile:
      return Hands::kLoopState;
    case Opcode::kConditional:
      return Hands::kBranch;
    default:
      return Hands::kNothing;
  }
}

bool StepBack(ValuePlace& place, Hands through) {
  constexpr Hands kElsewhere =
      Hands::kArgument | Hands::kCalled | Hands::kFused | Hands::kLoopState | Hands::kBranch;
  const Instruction& hlo = *place.hlo;
  const Hands hands = HandsOn(hlo);
  if (!Has(through, hands) || Has(kElsewhere, hands) || hlo.operands.empty()) return false;
  if (hands == Hands::kPacked) {
    if (place.path.empty() || place.path[0] < 0 || place.path[0] >= std::ssize(hlo.operands)) return false;
    place.hlo = hlo.operands[static_cast<size_t>(place.path[0])];
    place.path.erase(place.path.begin());
    return true;
  }
  if (hands == Hands::kPart) place.path.insert(place.path.begin(), hlo[Op<Opcode::kGetTupleElement>::kIndex]);
  place.hlo = hlo.operands[0];
  return true;
}

ValuePlace MadeAt(ValuePlace place, Hands through) {
  while (StepBack(place, through)) {
  }
  return place;
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

const Computation* RunOnceBy(const Instruction& hlo) {
  const Computation* callee = nullptr;
  if (hlo.opcode == Opcode::kCall) callee = hlo[kToApply];
  if (hlo.opcode == Opcode::kFusion || hlo.opcode == Opcode::kAsyncStart) callee = hlo[kCalls];
  return callee == nullptr || callee->root == nullptr ? nullptr : callee;
}

}  // namespace shoal
