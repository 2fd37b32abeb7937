#include "analyze/facts/instruction_count.h"

#include <algorithm>

#include "core/ops/op.h"

namespace shoal::internal {

double EstimateInstructionCount(const Module& module) {
  const ExecutionCounts executions(module);
  if (!executions.unknown_loops().empty()) return 0;
  // Computations of scalars are part of the op that they belong to.
  absl::flat_hash_set<const Computation*> parts;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kElements)
        for (const Computation* callee : CalledComputations(*hlo)) parts.insert(callee);
  double steps = 0;
  for (const Computation* computation : module.computations) {
    if (parts.contains(computation)) continue;
    const auto given = std::count_if(computation->instructions.begin(), computation->instructions.end(),
                                     [](const Instruction* hlo) { return hlo->operands.empty(); });
    steps += executions.Of(*computation) * static_cast<double>(std::ssize(computation->instructions) - given);
  }
  return steps;
}

}  // namespace shoal::internal
