#include "analyze/facts/instruction_count.h"

#include <algorithm>

#include "core/ops/op.h"

namespace shoal::internal {

double EstimateInstructionCount(const Module& module) {
  const ExecutionCounts executions(module);
  if (!executions.unknown_loops().empty()) return 0;
  // Reducers, comparators and similar computations are evaluated as part of the calling op.
  absl::flat_hash_set<const Computation*> embedded;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kElements)
        for (const Computation* callee : CalledComputations(*hlo)) embedded.insert(callee);
  double total = 0;
  for (const Computation* computation : module.computations) {
    if (embedded.contains(computation)) continue;
    const auto leaves = std::count_if(computation->instructions.begin(), computation->instructions.end(),
                                      [](const Instruction* hlo) { return hlo->operands.empty(); });
    total += executions.Of(*computation) * static_cast<double>(std::ssize(computation->instructions) - leaves);
  }
  return total;
}

}  // namespace shoal::internal
