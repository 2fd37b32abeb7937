#include "analyze/cost/cost.h"
#include "core/ops/custom_calls.h"

namespace shoal::internal {

std::optional<Cost> CustomCallCost(const Instruction& hlo) {
  const std::optional<CallCost> cost = CallCostOf(hlo);
  if (!cost) return std::nullopt;
  return Cost{cost->flops, cost->transcendentals, cost->bytes_read, cost->bytes_written};
}

Cost MemoryOfCall(const Instruction& hlo) {
  CallCost cost;
  AddCallMemory(hlo, cost);
  return {0, 0, cost.bytes_read, cost.bytes_written};
}

}  // namespace shoal::internal
