#include "core/ops/order.h"

#include <algorithm>

#include "core/ops/attrs.h"

namespace shoal::internal {

absl::flat_hash_set<const Computation*> FusedComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> fused;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (hlo->opcode == Opcode::kFusion && (*hlo)[kCalls] != nullptr) fused.insert((*hlo)[kCalls]);
  return fused;
}

void OrderInstructions(Module& module) {
  absl::flat_hash_set<const Computation*> fused;
  if (module.is_scheduled) fused = FusedComputations(module);
  PostOrderWalk walk;
  for (Computation* computation : module.computations) {
    if (module.is_scheduled && !fused.contains(computation)) continue;
    const std::span<Instruction* const> order = walk.Of(*computation);
    if (!std::equal(order.begin(), order.end(), computation->instructions.begin(), computation->instructions.end()))
      SetOrder(*computation, {order.begin(), order.end()});
  }
}

}  // namespace shoal::internal
