#include "core/ops/padded_gather.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// The instruction that computes the value: looks through copies, conversions, reshapes, and into fusions and calls.
const Instruction& Origin(const Instruction& value) {
  constexpr Forwarding kThrough = Forwarding::kSame | Forwarding::kBitcast | Forwarding::kReshaped |
                                  Forwarding::kCopied | Forwarding::kConverted | Forwarding::kTupleElement |
                                  Forwarding::kTuple;
  const Instruction* at = &value;
  for (int depth = 0; depth < 8; ++depth) {
    at = DefiningValue({at, {}}, kThrough).hlo;
    const Computation* callee = CalleeRunOnce(*at);
    if (callee == nullptr || callee->root == nullptr || IsTuple(*callee->root)) break;
    at = callee->root;
  }
  return *at;
}

bool IsZero(const Instruction& value) {
  const Instruction* at = &Origin(value);
  if (IsBroadcast(*at) && at->operand_count() == 1) at = &Origin(*at->operands[0]);
  const Literal* literal = (*at)[kConstantValue];
  return literal != nullptr && !literal->elided && literal->elements.empty() &&
         std::all_of(literal->data.begin(), literal->data.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool IsPadded(const Instruction& operand) {
  const Instruction& origin = Origin(operand);
  if (origin.operand_count() < 2) return false;  // loose text may omit operands
  if (origin.opcode == Opcode::kDynamicUpdateSlice) return IsZero(*origin.operands[0]);
  return origin.opcode == Opcode::kPad && IsZero(*origin.operands[1]) &&
         origin.shape().ElementCount() > origin.operand_shape(0).ElementCount();
}

}  // namespace

bool IsPaddedAllGather(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kAllReduce && hlo.opcode != Opcode::kAllReduceStart) return false;
  const std::vector<Computation*> reducer = CalledComputations(hlo);
  if (reducer.size() != 1 || reducer[0]->root == nullptr || reducer[0]->root->opcode != Opcode::kAdd) return false;
  return !hlo.operands.empty() &&
         std::all_of(hlo.operands.begin(), hlo.operands.end(), [](const Instruction* operand) { return IsPadded(*operand); });
}

}  // namespace shoal::internal
