// Prices of custom calls, as costs.
#include "analyze/cost/cost.h"
#include "core/ops/custom_calls.h"

namespace shoal {

std::optional<Cost> CustomCallCost(const Instruction& hlo) {
  const std::optional<CallPrice> price = CustomCallPrice(hlo);
  if (!price) return std::nullopt;
  return Cost{price->flops, price->transcendentals, price->bytes_read, price->bytes_written};
}

Cost MemoryOfCall(const Instruction& hlo) {
  CallPrice price;
  AddCallMemory(hlo, price);
  return {0, 0, price.bytes_read, price.bytes_written};
}

}  // namespace shoal
