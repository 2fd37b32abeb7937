#include "transform/passes/live_range_guard.h"

#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMinBytes = int64_t{1} << 20;

// An array that is large beside what `hlo` makes of it, and is in memory: a broadcast would be read as what it repeats.
bool ReadsMuch(const Instruction& hlo) {
  const int64_t much = std::max(kMinBytes, SaturatingMul(8, HostBytesOf(hlo.shape())));
  return std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
    return operand->shape().IsArray() && HostBytesOf(operand->shape()) >= much && !IsBroadcast(*operand) && !IsConstant(*operand);
  });
}

}  // namespace

LiveRangeGuard::LiveRangeGuard(const Computation& computation) {
  uint32_t waits = 0;
  for (const Instruction* hlo : computation.instructions) {
    waits_.push_back(waits);
    if (IsLoop(*hlo) || IsCollective(*hlo)) ++waits;
  }
}

bool LiveRangeGuard::ExtendsLiveRanges(const Instruction& hlo, const Instruction& later) const {
  return waits_[hlo.index] != waits_[later.index] && ReadsMuch(hlo);
}

}  // namespace shoal::internal
