#include "transform/passes/live_range_guard.h"

#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMinBytes = int64_t{1} << 20;

// True if an operand is in memory and much larger than the result. A broadcast is not in memory; only its operand is.
bool ReadsLargeOperand(const Instruction& hlo) {
  const int64_t large = std::max(kMinBytes, SaturatingMul(8, HostBytesOf(hlo.shape())));
  return std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
    return operand->shape().IsArray() && HostBytesOf(operand->shape()) >= large && !IsBroadcast(*operand) && !IsConstant(*operand);
  });
}

}  // namespace

LiveRangeGuard::LiveRangeGuard(const Computation& computation) {
  uint32_t blocking_ops = 0;
  for (const Instruction* hlo : computation.instructions) {
    blocking_ops_before_.push_back(blocking_ops);
    if (IsLoop(*hlo) || IsCollective(*hlo)) ++blocking_ops;
  }
}

bool LiveRangeGuard::ExtendsLiveRanges(const Instruction& hlo, const Instruction& later) const {
  return blocking_ops_before_[hlo.index] != blocking_ops_before_[later.index] && ReadsLargeOperand(hlo);
}

}  // namespace shoal::internal
